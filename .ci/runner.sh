# How steps are run and counted. Sourced by steps.sh.

readonly results=$work/results # a line a step: name, exit code, seconds, how many passed, failed, were skipped

# run NAME LIMIT COMMAND...: with a header, a time limit and a duration; leaves `status`, `seconds` and `log`.
run() {
    local limit=$(($2 < overall_limit - SECONDS ? $2 : overall_limit - SECONDS)) started=$SECONDS
    ((limit > 0)) || limit=1
    log=$work/$1.log
    printf '\n==== %s (at most %d s) ====\n' "$1" "$limit"
    # Into a file, followed from here: what a step leaves running in the background cannot hold this script's output.
    : >"$log"
    timeout --kill-after=15 "$limit" "${@:3}" </dev/null >"$log" 2>&1 &
    tail --follow --lines=+1 --pid="$!" --sleep-interval=0.2 "$log"
    wait "$!"
    status=$? seconds=$((SECONDS - started))
    ((status != 124 && status != 137)) || echo "Stopped after $limit s."
    # Not every output ends with a line's end.
    [[ -z $(tail --bytes=1 "$log") ]] || echo
    printf -- '---- %s: exit code %d, %d s\n' "$1" "$status" "$seconds"
}

# chosen NAME: whether this step is to run here.
chosen() {
    [[ ${#only[@]} -eq 0 || " ${only[*]} " == *" $1 "* ]]
}

# step NAME LIMIT FUNCTION: counts as one.
step() {
    chosen "$1" || return 0
    run "$1" "$2" "$script" --call "$3"
    echo "$1 $status $seconds $((status == 0)) $((status != 0 && status != skip)) $((status == skip))" >>"$results"
}

# tests NAME LIMIT ARGUMENTS...: `dotnet test` with these arguments; counts as many as its summaries do.
tests() {
    local counts arguments=("${@:3}")
    chosen "$1" || return 0
    [[ -z ${ALONE:-} ]] || arguments=("${arguments[@]/#--no-build/--nologo}")
    run "$1" "$2" dotnet test "${arguments[@]}" --blame-hang --blame-hang-timeout "$(($2 * 2 / 3))s" --blame-hang-dump-type none \
        -- RunConfiguration.TreatNoTestsAsError=true
    counts=$(sed --quiet --regexp-extended \
        's/^(Passed|Failed|Skipped)! .*Failed: *([0-9]+), Passed: *([0-9]+), Skipped: *([0-9]+),.*/\3 \2 \4/p' "$log" |
        awk '{ passed += $1; failed += $2; skipped += $3 } END { print passed + 0, failed + 0, skipped + 0 }')
    # Not built, crashed, or nothing found: a failure too, although no test says so. What this machine skips is found.
    [[ $counts != *" 0 "* || ($status -eq 0 && $counts != "0 0 0") ]] || counts="${counts/ 0 / 1 }"
    echo "$1 $status $seconds $counts" >>"$results"
}

# meanwhile FUNCTION: runs the steps in it beside those that come here until `joined`. They neither build nor replace a program that these run.
meanwhile() {
    if [[ -n ${ALONE:-} ]]; then "$1"; return; fi
    printf '\n==== beside the next steps: %s ====\n' "$1"
    "$1" >"$work/meanwhile.log" 2>&1 &
    other=$!
    trap 'kill "$other" 2>/dev/null' EXIT
}

# joined: waits for them, and shows what they wrote.
joined() {
    [[ -z ${ALONE:-} ]] || return 0
    wait "$other"
    trap - EXIT
    cat "$work/meanwhile.log"
}

# begin: an empty folder for what the steps write.
begin() {
    [[ -n ${ALONE:-} ]] || rm -rf "$work"
    mkdir -p "$work" "$HOME"
    : >"$results"
    dotnet --version
    uname -srm
}

# finish: what failed once more, because of a long output the end is what people see; then the line that counts.
finish() {
    local name passed=0 failed=0 skipped=0 counts
    dotnet build-server shutdown --vbcscompiler >"$work/build-server.log" 2>&1
    for name in $(awk '$5 > 0 { print $1 }' "$results"); do
        printf '\n==== what failed in %s ====\n' "$name"
        grep --extended-regexp --ignore-case 'error|fail|regression|exception|expected|actual|refused' "$work/$name.log" | head --lines=60
        printf '...\n'
        tail --lines=40 "$work/$name.log"
    done
    printf '\n==== %d s ====\n' "$SECONDS"
    while read -r name status seconds counts[0] counts[1] counts[2]; do
        printf '%-22s exit code %3d  %4d s  %d passed, %d failed, %d skipped\n' "$name" "$status" "$seconds" "${counts[@]}"
        ((passed += counts[0], failed += counts[1], skipped += counts[2]))
    done <"$results"
    echo "$passed passed, $failed failed, $skipped skipped"
    ((failed == 0 && passed + skipped > 0))
}

# --step NAME...: those steps alone. They build what else an earlier step has built. --list: the names of all. --call: a step's own shell.
only=()
case ${1:-} in
    --call)
        set -e
        "$2"
        exit
        ;;
    --list)
        sed --quiet --regexp-extended 's/^ *(step|tests) ([^ ]+) .*/\2/p' "$script"
        exit
        ;;
    --step)
        only=("${@:2}")
        export ALONE=true
        for name in "${only[@]}"; do
            "$script" --list | grep --quiet --line-regexp --fixed-strings "$name" || { echo "There is no step $name: $script --list" >&2; exit 2; }
        done
        ;;
esac
