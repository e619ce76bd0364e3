import { posix } from "node:path"

/** The name a program is known by, however it is written: without folders, `.exe` and capital letters. */
export function baseName(program: string): string {
  const name = posix.basename(program.replaceAll("\\", "/")).toLowerCase()
  return name.endsWith(".exe") ? name.slice(0, -".exe".length) : name
}

/** Whether the program runs whatever it is given, so that an answer about one line says nothing about another. */
export function neverAlways(program: string): boolean {
  const name = baseName(program)
  return interpreters.test(name) || isWrapper(name) || shellChanging.has(name) || name === "make"
}

const interpreters =
  /^(?:(?:ba|da|z|k|mk|pdk|fi|c|tc|rba|a|nu|x?on|elvi)?sh|pwsh|powershell|cmd|python[\d.]*w?|pypy[\d.]*|node(?:js)?|deno|bun|ruby[\d.]*|irb|perl[\d.]*|php[\d.]*|lua(?:jit)?[\d.]*|tclsh|wish|expect|osascript|rscript|r|julia|ghci|runghc|scala|groovy|jshell|java|dotnet|erl|escript|elixir|iex|sqlite3|psql|mysql|mongosh?|gdb|lldb|vi|vim|nvim|view|ex|ed|emacs|nano|less|more|most|npx|pnpx|bunx|uvx|uv|pipx|tsx|ts-node|qemu.*|m4|bc|dc|crontab|at|batch|ssh|scp|sftp|rsync|telnet|nc|ncat|netcat|socat|docker|podman|nerdctl|kubectl|lxc|vagrant|systemctl|systemd-run|tmux|screen)$/

/** Whether the program runs another that stands among its words. */
export function isWrapper(name: string): boolean {
  return wrappers.has(name) || /^ld(?:-linux.*|-musl.*|\.so.*|64\.so.*)/.test(name)
}

/** How many words stand before the program, apart from options, numbers and variables. */
const wrappers = new Map<string, number>([
  ...words(
    0,
    "env nice ionice timeout gtimeout time nohup stdbuf setsid xargs sudo doas command builtin exec busybox toybox strace ltrace catchsegv valgrind parallel watch unbuffer caffeinate chronic ts coproc then do else noglob nocorrect fakeroot setarch linux32 linux64 i386 x86_64 unshare nsenter bwrap firejail proxychains proxychains4 torsocks dbus-run-session xvfb-run perf hyperfine rlwrap runuser pkexec su-exec gosu tini dumb-init sem faketime softlimit eatmydata pipenv poetry cross-env dotenv entr and or not capsh numactl cgexec chpst trickle start-stop-daemon run-parts s6-setuidgid s6-envuidgid",
  ),
  ...words(1, "sg newgrp flock chroot taskset chrt runcon script su cset systemd-cat logsave setpriv prlimit"),
])

/** Programs that only change how another runs, and not what it is: `timeout 5 ls` is `ls`. */
const transparent = new Set(["timeout", "time", "nice", "nohup", "stdbuf"])

/** What the wrapped program's words are, where the wrapper is a harmless one and written plainly. */
export function unwrapPlain(words: readonly string[]): number {
  const name = words[0] ?? ""
  if (!transparent.has(name)) return 0
  let at = 1
  if (name === "nice") {
    if (words[at] === "-n" && /^-?\d+$/.test(words[at + 1] ?? "")) at += 2
    else if (/^(?:-n|-|--adjustment=)\d+$/.test(words[at] ?? "")) at++
  }
  if (name === "stdbuf") while (/^-[ioe](?:\d+|L)$/.test(words[at] ?? "")) at++
  if (name === "timeout") {
    for (;;) {
      const word = words[at] ?? ""
      if (/^(?:--preserve-status|--foreground|-v|--verbose|--signal=\w+|--kill-after=[\d.]+[smhd]?)$/.test(word)) at++
      else if (/^-[sk]$/.test(word) && /^[\w.]+$/.test(words[at + 1] ?? "")) at += 2
      else break
    }
    if (!/^[\d.]+[smhd]?$/.test(words[at] ?? "")) return 0
    at++
  }
  const inner = words[at]
  return inner === undefined || inner.startsWith("-") ? 0 : at
}

/** Where a wrapped program may begin among the words; more places than one where options take values or not. */
export function innerStarts(words: readonly string[]): number[] {
  const name = baseName(words[0] ?? "")
  if (!isWrapper(name)) return []
  let before = wrappers.get(name) ?? 0
  const starts: number[] = []
  for (let at = 1; at < words.length; at++) {
    const word = words[at]!
    if (word.startsWith("-") || /^[A-Za-z_]\w*=/.test(word) || /^[\d.]+[smhd]?$/.test(word)) continue
    starts.push(at)
    if (words[at - 1]!.startsWith("-") && words[at - 1] !== "--") continue
    if (before-- <= 0) break
  }
  return starts
}

/** Builtins that change what later words mean or run what they are given. */
export const shellChanging: ReadonlySet<string> = new Set(
  "eval source . exec trap alias unalias set shopt enable hash declare typeset local export readonly unset read mapfile readarray let getopts bind complete compgen compopt coproc pushd popd dirs command builtin fc history jobs bg fg wait disown umask ulimit suspend logout return shift break continue caller times help".split(
    " ",
  ),
)

/** Shells, whose `-c` is a script of its own. */
export const shells = /^(?:ba|da|z|k|mk|pdk|fi|c|tc|a|rba)?sh$/

function words(count: number, names: string): [string, number][] {
  return names.split(" ").map((name) => [name, count])
}
