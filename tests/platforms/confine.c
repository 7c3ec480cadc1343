/* confine ROOT CGROUP-FOLDER USER PROGRAM ARGUMENTS...: runs a program as a strict container does, as process 1 of its own namespaces.
   Read-only root without a writable folder, /proc as Docker mounts it, /dev with five devices, no capability, no new privileges, and the
   system calls of Docker's default seccomp profile (x64). Needs root. */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DO(call) do { if ((call) < 0) { fprintf(stderr, "%s: %s\n", #call, strerror(errno)); _exit(125); } } while (0)

/* What the profile allows a process without capabilities on a kernel from 4.8 on. All else fails with EPERM. */
static const int allowed[] = {
    SYS_accept, SYS_accept4, SYS_access, SYS_adjtimex, SYS_alarm, SYS_arch_prctl, SYS_bind, SYS_brk, SYS_capget, SYS_capset, SYS_chdir,
    SYS_chmod, SYS_chown, SYS_clock_adjtime, SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep, SYS_close, SYS_close_range,
    SYS_connect, SYS_copy_file_range, SYS_creat, SYS_dup, SYS_dup2, SYS_dup3, SYS_epoll_create, SYS_epoll_create1, SYS_epoll_ctl,
    SYS_epoll_ctl_old, SYS_epoll_pwait, SYS_epoll_pwait2, SYS_epoll_wait, SYS_epoll_wait_old, SYS_eventfd, SYS_eventfd2, SYS_execve,
    SYS_execveat, SYS_exit, SYS_exit_group, SYS_faccessat, SYS_faccessat2, SYS_fadvise64, SYS_fallocate, SYS_fanotify_mark, SYS_fchdir,
    SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat, SYS_fcntl, SYS_fdatasync, SYS_fgetxattr, SYS_flistxattr, SYS_flock, SYS_fork,
    SYS_fremovexattr, SYS_fsetxattr, SYS_fstat, SYS_fstatfs, SYS_fsync, SYS_ftruncate, SYS_futex, SYS_futex_waitv, SYS_futimesat,
    SYS_get_robust_list, SYS_get_thread_area, SYS_getcpu, SYS_getcwd, SYS_getdents, SYS_getdents64, SYS_getegid, SYS_geteuid, SYS_getgid,
    SYS_getgroups, SYS_getitimer, SYS_getpeername, SYS_getpgid, SYS_getpgrp, SYS_getpid, SYS_getppid, SYS_getpriority, SYS_getrandom,
    SYS_getresgid, SYS_getresuid, SYS_getrlimit, SYS_getrusage, SYS_getsid, SYS_getsockname, SYS_getsockopt, SYS_gettid,
    SYS_gettimeofday, SYS_getuid, SYS_getxattr, SYS_inotify_add_watch, SYS_inotify_init, SYS_inotify_init1, SYS_inotify_rm_watch,
    SYS_io_cancel, SYS_io_destroy, SYS_io_getevents, SYS_io_setup, SYS_io_submit, SYS_ioctl, SYS_ioprio_get, SYS_ioprio_set, SYS_kill,
    SYS_landlock_add_rule, SYS_landlock_create_ruleset, SYS_landlock_restrict_self, SYS_lchown, SYS_lgetxattr, SYS_link, SYS_linkat,
    SYS_listen, SYS_listxattr, SYS_llistxattr, SYS_lremovexattr, SYS_lseek, SYS_lsetxattr, SYS_lstat, SYS_madvise, SYS_membarrier,
    SYS_memfd_create, SYS_memfd_secret, SYS_mincore, SYS_mkdir, SYS_mkdirat, SYS_mknod, SYS_mknodat, SYS_mlock, SYS_mlock2,
    SYS_mlockall, SYS_mmap, SYS_modify_ldt, SYS_mprotect, SYS_mq_getsetattr, SYS_mq_notify, SYS_mq_open, SYS_mq_timedreceive,
    SYS_mq_timedsend, SYS_mq_unlink, SYS_mremap, SYS_msgctl, SYS_msgget, SYS_msgrcv, SYS_msgsnd, SYS_msync, SYS_munlock, SYS_munlockall,
    SYS_munmap, SYS_name_to_handle_at, SYS_nanosleep, SYS_newfstatat, SYS_open, SYS_openat, SYS_openat2, SYS_pause, SYS_pidfd_open,
    SYS_pidfd_send_signal, SYS_pipe, SYS_pipe2, SYS_pkey_alloc, SYS_pkey_free, SYS_pkey_mprotect, SYS_poll, SYS_ppoll, SYS_prctl,
    SYS_pread64, SYS_preadv, SYS_preadv2, SYS_prlimit64, SYS_process_mrelease, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pselect6,
    SYS_ptrace, SYS_pwrite64, SYS_pwritev, SYS_pwritev2, SYS_read, SYS_readahead, SYS_readlink, SYS_readlinkat, SYS_readv, SYS_recvfrom,
    SYS_recvmmsg, SYS_recvmsg, SYS_remap_file_pages, SYS_removexattr, SYS_rename, SYS_renameat, SYS_renameat2, SYS_restart_syscall,
    SYS_rmdir, SYS_rseq, SYS_rt_sigaction, SYS_rt_sigpending, SYS_rt_sigprocmask, SYS_rt_sigqueueinfo, SYS_rt_sigreturn,
    SYS_rt_sigsuspend, SYS_rt_sigtimedwait, SYS_rt_tgsigqueueinfo, SYS_sched_get_priority_max, SYS_sched_get_priority_min,
    SYS_sched_getaffinity, SYS_sched_getattr, SYS_sched_getparam, SYS_sched_getscheduler, SYS_sched_rr_get_interval,
    SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_yield, SYS_seccomp, SYS_select,
    SYS_semctl, SYS_semget, SYS_semop, SYS_semtimedop, SYS_sendfile, SYS_sendmmsg, SYS_sendmsg, SYS_sendto, SYS_set_robust_list,
    SYS_set_thread_area, SYS_set_tid_address, SYS_setfsgid, SYS_setfsuid, SYS_setgid, SYS_setgroups, SYS_setitimer, SYS_setpgid,
    SYS_setpriority, SYS_setregid, SYS_setresgid, SYS_setresuid, SYS_setreuid, SYS_setrlimit, SYS_setsid, SYS_setsockopt, SYS_setuid,
    SYS_setxattr, SYS_shmat, SYS_shmctl, SYS_shmdt, SYS_shmget, SYS_shutdown, SYS_sigaltstack, SYS_signalfd, SYS_signalfd4,
    SYS_socketpair, SYS_splice, SYS_stat, SYS_statfs, SYS_statx, SYS_symlink, SYS_symlinkat, SYS_sync, SYS_sync_file_range, SYS_syncfs,
    SYS_sysinfo, SYS_tee, SYS_tgkill, SYS_time, SYS_timer_create, SYS_timer_delete, SYS_timer_getoverrun, SYS_timer_gettime,
    SYS_timer_settime, SYS_timerfd_create, SYS_timerfd_gettime, SYS_timerfd_settime, SYS_times, SYS_tkill, SYS_truncate, SYS_umask,
    SYS_uname, SYS_unlink, SYS_unlinkat, SYS_utime, SYS_utimensat, SYS_utimes, SYS_vfork, SYS_vmsplice, SYS_wait4, SYS_waitid, SYS_write,
    SYS_writev,
};

enum { NAMESPACES = 0x7E020000, FAMILY_VSOCK = 40 };

static void filter(void)
{
    static struct sock_filter program[2 * sizeof allowed / sizeof *allowed + 64];
    struct sock_filter *next = program;
#define ADD(...) *next++ = (struct sock_filter)__VA_ARGS__
#define LOAD(field) ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field)))
#define RETURN(what) ADD(BPF_STMT(BPF_RET | BPF_K, what))
#define IF_NOT(value, skip) ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip))
    LOAD(arch);
    IF_NOT(AUDIT_ARCH_X86_64, 4);
    LOAD(nr);
    /* x32. */
    ADD(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
    RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    ADD(BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0));
    RETURN(SECCOMP_RET_KILL_PROCESS);
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        IF_NOT(allowed[i], 1);
        RETURN(SECCOMP_RET_ALLOW);
    }
    /* Its flags lie behind a pointer: the C library takes clone instead. */
    IF_NOT(SYS_clone3, 1);
    RETURN(SECCOMP_RET_ERRNO | ENOSYS);
    IF_NOT(SYS_clone, 4);
    LOAD(args[0]);
    ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, NAMESPACES, 1, 0));
    RETURN(SECCOMP_RET_ALLOW);
    RETURN(SECCOMP_RET_ERRNO | EPERM);
    IF_NOT(SYS_socket, 4);
    LOAD(args[0]);
    ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FAMILY_VSOCK, 1, 0));
    RETURN(SECCOMP_RET_ALLOW);
    RETURN(SECCOMP_RET_ERRNO | EPERM);
    IF_NOT(SYS_personality, 11);
    LOAD(args[0]);
    static const unsigned personalities[] = { 0, 8, 0x20000, 0x20008, 0xffffffff };
    for (size_t i = 0; i < 5; i++) {
        IF_NOT(personalities[i], 1);
        RETURN(SECCOMP_RET_ALLOW);
    }
    RETURN(SECCOMP_RET_ERRNO | EPERM);

    struct sock_fprog compiled = { (unsigned short)(next - program), program };
    DO(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &compiled));
}

static void make(const char *path, int is_folder)
{
    if (is_folder) mkdir(path, 0755);
    else {
        FILE *file = fopen(path, "a");
        if (file) fclose(file);
    }
}

/* Binds, and remounts read-only if asked to. */
static void bind_at(const char *from, const char *to, int is_read_only)
{
    DO(mount(from, to, NULL, MS_BIND | MS_REC, NULL));
    if (is_read_only) DO(mount(NULL, to, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL));
}

/* In the new root, before it becomes the root. */
static void mount_all(const char *group)
{
    static const char *const devices[] = { "null", "zero", "full", "random", "urandom" };
    static const char *const hidden_files[] = { "kcore", "keys", "latency_stats", "timer_list", "sched_debug" };
    static const char *const hidden_folders[] = { "acpi", "asound", "scsi" };
    static const char *const read_only[] = { "bus", "fs", "irq", "sys", "sysrq-trigger" };
    char path[256], from[256];
    DO(mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL));
    DO(mount("tmpfs", "dev", "tmpfs", MS_NOSUID, "mode=755,size=64k"));
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "dev/%s", devices[i]);
        snprintf(from, sizeof from, "/dev/%s", devices[i]);
        make(path, 0);
        bind_at(from, path, 0);
    }
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "proc/%s", hidden_files[i]);
        if (access(path, F_OK) == 0) bind_at("/dev/null", path, 0);
        snprintf(path, sizeof path, "proc/%s", read_only[i]);
        if (access(path, F_OK) == 0) bind_at(path, path, 1);
    }
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "proc/%s", hidden_folders[i]);
        if (access(path, F_OK) == 0) DO(mount("tmpfs", path, "tmpfs", MS_RDONLY, NULL));
    }
    DO(mount("sysfs", "sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL));

    /* The group as Docker shows it: version 1 with a folder for the controller, version 2 by itself. */
    snprintf(path, sizeof path, "%s/memory.limit_in_bytes", group);
    if (access(path, F_OK) == 0) {
        DO(mount("tmpfs", "sys/fs/cgroup", "tmpfs", MS_NOSUID, "mode=755,size=64k"));
        make("sys/fs/cgroup/memory", 1);
        bind_at(group, "sys/fs/cgroup/memory", 1);
        DO(mount(NULL, "sys/fs/cgroup", NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID, NULL));
    }
    else bind_at(group, "sys/fs/cgroup", 1);
    DO(mount(NULL, "dev", NULL, MS_REMOUNT | MS_RDONLY | MS_NOSUID, NULL));
}

int main(int count, char **arguments)
{
    if (count < 5) {
        fprintf(stderr, "confine ROOT CGROUP-FOLDER USER PROGRAM ARGUMENTS...\n");
        return 2;
    }
    char *root = arguments[1], *group = arguments[2], processes[512];
    unsigned user = (unsigned)atoi(arguments[3]);
    snprintf(processes, sizeof processes, "%s/cgroup.procs", group);
    FILE *file = fopen(processes, "w");
    DO(file ? fprintf(file, "%d\n", getpid()) : -1);
    DO(fclose(file));

    DO(unshare(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS));
    pid_t child = fork();
    DO(child);
    if (child > 0) {
        int status = 0;
        DO(waitpid(child, &status, 0));
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }

    DO(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
    DO(mount(root, root, NULL, MS_BIND, NULL));
    DO(chdir(root));
    mount_all(group);
    DO(mount(NULL, ".", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL));
    DO(syscall(SYS_pivot_root, ".", "."));
    DO(umount2(".", MNT_DETACH));
    DO(chdir("/"));

    for (int capability = 0; capability <= 63; capability++) {
        if (prctl(PR_CAPBSET_READ, capability) > 0) DO(prctl(PR_CAPBSET_DROP, capability));
    }
    DO(setgroups(0, NULL));
    DO(setresgid(user, user, user));
    DO(setresuid(user, user, user));
    /* Ends with the parent. A change of the user forgets this. */
    DO(prctl(PR_SET_PDEATHSIG, SIGKILL));
    DO(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    filter();
    static char *const environment[] = {
        "PATH=/usr/bin", "DOTNET_EnableDiagnostics=0", "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1", "DOTNET_RUNNING_IN_CONTAINER=true", NULL,
    };
    DO(execve(arguments[4], arguments + 4, environment));
}
