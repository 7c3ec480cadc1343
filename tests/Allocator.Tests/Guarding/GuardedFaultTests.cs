namespace Allocator.Tests.Guarding;

/// <summary>Accesses that must end the process at once, and what its record file says about them afterwards.</summary>
public unsafe class GuardedFaultTests
{
    private const int Length = 4 << 20;

    [Fact]
    public void Write_OneBytePastAPageFillingBuffer_FaultsAndIsExplained()
    {
        FaultReport report = FaultingChild.Run(
            static mode =>
            {
                using MemoryAllocator allocator = Create(mode);
                using IMemoryOwner<byte> owner = AllocateHere(allocator, Length);
                nint address = AddressOf(owner.Memory.Span) + Length;
                ((byte*)address)[-1] = 1;
                FaultingChild.Announce(address);
                *(byte*)address = 1;
            },
            "Guarded");

        Assert.Contains("is 1 byte past the end of a buffer of 4,194,304 bytes that is rented.", report.Explanation);
        Assert.Contains(nameof(AllocateHere), report.Explanation);
        Assert.DoesNotContain("Returned at", report.Explanation);
        AssertIsOfTheChild(report);
    }

    [Fact]
    public void Read_OneByteBeforeAPageFillingBuffer_FaultsAndIsExplained()
    {
        FaultReport report = FaultingChild.Run(
            static mode =>
            {
                using MemoryAllocator allocator = Create(mode);
                using IMemoryOwner<byte> owner = AllocateHere(allocator, Length);
                nint address = AddressOf(owner.Memory.Span) - 1;
                FaultingChild.Announce(address);
                Console.Error.Write(*(byte*)address);
            },
            "Guarded");

        Assert.Contains("is 1 byte before the start of a buffer of 4,194,304 bytes that is rented.", report.Explanation);
        Assert.Contains(nameof(AllocateHere), report.Explanation);
    }

    [Theory]
    [InlineData(nameof(SafetyMode.Guarded), true)]
    [InlineData(nameof(SafetyMode.Sampled), false)]
    public void Read_StaleSpan_FaultsAndIsExplainedByBothStacksIfRecorded(string safety, bool isRecorded)
    {
        FaultReport report = FaultingChild.Run(
            static mode =>
            {
                using MemoryAllocator allocator = Create(mode);
                IMemoryOwner<byte> owner = AllocateHere(allocator, Length);
                Span<byte> stale = owner.Memory.Span;
                stale.Fill(5);
                ReturnHere(owner);
#pragma warning disable ALLOC002 // What is tested is that it faults.
                FaultingChild.Announce(AddressOf(stale) + 128);
                Console.Error.Write(stale[128]);
#pragma warning restore ALLOC002
            },
            safety,
            isRecorded: isRecorded);

        Assert.Contains("AccessViolation", report.Errors);
        if (isRecorded)
        {
            Assert.Contains("lies at offset 128 inside a buffer of 4,194,304 bytes that was returned ", report.Explanation);
            Assert.Contains(nameof(AllocateHere), report.Explanation);
            Assert.Contains(nameof(ReturnHere), report.Explanation);
        }
    }

    [Fact]
    public void Write_StalePointerOfASmallLease_FaultsAndIsExplained()
    {
        FaultReport report = FaultingChild.Run(
            static mode =>
            {
                using MemoryAllocator allocator = Create(mode);
                MemoryLease<int> lease = allocator.Rent<int>(25);
                int* stale = (int*)Unsafe.AsPointer(ref MemoryMarshal.GetReference(lease.Span));
                *stale = 1;
                lease.Dispose();
#pragma warning disable ALLOC002 // What is tested is that it faults.
                FaultingChild.Announce((nint)stale);
                *stale = 2;
#pragma warning restore ALLOC002
            },
            "Guarded");

        Assert.Contains("lies at offset 0 inside a buffer of 100 bytes that was returned ", report.Explanation);
    }

    [Fact]
    public void Write_PastTheEndOfAMemberOfAGroup_FaultsAndIsExplained()
    {
        FaultReport report = FaultingChild.Run(
            static mode =>
            {
                using MemoryAllocator allocator = Create(mode);
                using MemoryGroup<byte> group = allocator.AllocateGroup<byte>(3 * Length);
                nint address = AddressOf(group[1].Span) + Length;
                FaultingChild.Announce(address);
                *(byte*)address = 1;
            },
            "Guarded");

        Assert.Contains("is 1 byte past the end of a buffer of 4,194,304 bytes that is rented.", report.Explanation);
        Assert.Equal(3, report.Records!.Records.Count(static record => record.State == AllocationRecordState.Rented));
    }

    [Fact]
    public void Read_StalePixels_FaultsWhereTheModeComesFromTheEnvironment()
    {
        FaultReport report = FaultingChild.Run(
            static _ =>
            {
                PixelBuffer<int> pixels = MemoryAllocator.Default.AllocatePixels<int>(1000, 500);
                Span<int> stale = pixels.DangerousGetRowSpan(499);
                stale[0] = 1;
                pixels.Dispose();
#pragma warning disable ALLOC002 // What is tested is that it faults.
                FaultingChild.Announce(AddressOf(MemoryMarshal.AsBytes(stale)));
                Console.Error.Write(stale[0]);
#pragma warning restore ALLOC002
            },
            "",
            safety: "guarded");

        Assert.Contains("lies at offset 1,996,000 inside a buffer of 2,000,000 bytes that was returned ", report.Explanation);
    }

    private static MemoryAllocator Create(string mode) =>
        MemoryAllocator.Create(
            new MemoryAllocatorOptions { Safety = Enum.Parse<SafetyMode>(mode), SafetySampleInterval = 1, OverreadToleranceInBytes = 0 });

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static IMemoryOwner<byte> AllocateHere(MemoryAllocator allocator, int length) => allocator.Allocate<byte>(length);

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ReturnHere(IMemoryOwner<byte> owner) => owner.Dispose();

    private static nint AddressOf(Span<byte> span) => (nint)Unsafe.AsPointer(ref MemoryMarshal.GetReference(span));

    private static void AssertIsOfTheChild(FaultReport report)
    {
        Assert.Equal(report.ProcessId, report.Records!.ProcessId);
        Assert.InRange(report.Records.ProcessStarted, DateTime.UtcNow.AddMinutes(-5), DateTime.UtcNow);
        Assert.Equal(0, report.Records.DroppedRecords);
        Assert.Contains("AccessViolation", report.Errors);
    }
}
