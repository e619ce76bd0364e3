import { posix } from "node:path"

/** The name of a program without folders and `.exe`, in lower case. */
export function baseName(program: string): string {
  const name = posix.basename(program.replaceAll("\\", "/")).toLowerCase()
  return name.endsWith(".exe") ? name.slice(0, -".exe".length) : name
}

/** The same without the `g` of GNU programs on other systems: `gxargs` is `xargs`. */
export function canonicalProgramName(program: string): string {
  const name = baseName(program)
  return gnuNames.has(name) ? name.slice(1) : name
}

const gnuNames = new Set(
  "base64 basename cat chmod chown chroot cp csplit cut date dd df diff dirname du echo env expand expr false find fold grep egrep fgrep head id install join kill link ln locate ls make md5sum mkdir mkfifo mknod mktemp mv nice nl nohup od paste patch pathchk pr printenv printf pwd readlink realpath rm rmdir sed seq sha1sum sha256sum sha512sum shred shuf sleep sort split stat stdbuf strings stty sync tac tail tar tee test time timeout touch tr true truncate tsort tty uname unexpand uniq unlink updatedb wc which who whoami xargs yes"
    .split(" ")
    .map((name) => `g${name}`),
)

/**
 * Reports whether the program runs its arguments as code or commands, so that an approval of one line says nothing
 * about another.
 */
export function runsItsArguments(program: string): boolean {
  const name = baseName(program)
  return interpreters.test(name) || isWrapper(name) || shellChanging.has(name) || name === "make"
}

const interpreters =
  /^(?:(?:ba|da|z|k|mk|pdk|fi|c|tc|rba|a|nu|x?on|elvi)?sh|pwsh|powershell|cmd|python[\d.]*w?|pypy[\d.]*|node(?:js)?|deno|bun|ruby[\d.]*|irb|perl[\d.]*|php[\d.]*|lua(?:jit)?[\d.]*|tclsh|wish|expect|osascript|rscript|r|julia|ghci|runghc|scala|groovy|jshell|java|dotnet|erl|escript|elixir|iex|sqlite3|psql|mysql|mongosh?|gdb|lldb|vi|vim|nvim|view|ex|ed|emacs|nano|less|more|most|npx|pnpx|bunx|uvx|uv|pipx|tsx|ts-node|qemu.*|m4|bc|dc|crontab|at|batch|ssh|scp|sftp|rsync|telnet|nc|ncat|netcat|socat|docker|podman|nerdctl|kubectl|lxc|vagrant|systemctl|systemd-run|tmux|screen)$/

/** Reports whether the program runs another program from its arguments. */
export function isWrapper(name: string): boolean {
  return wrappers.has(name) || /^ld(?:-linux.*|-musl.*|\.so.*|64\.so.*)/.test(name)
}

/** The number of words between the wrapper and its program, besides options, numbers and variables. */
const wrappers = new Map<string, number>([
  ...words(
    0,
    "env nice ionice timeout gtimeout time nohup stdbuf setsid xargs sudo doas command builtin exec busybox toybox strace ltrace catchsegv valgrind parallel watch unbuffer caffeinate chronic ts coproc then do else noglob nocorrect fakeroot setarch linux32 linux64 i386 x86_64 unshare nsenter bwrap firejail proxychains proxychains4 torsocks dbus-run-session xvfb-run perf hyperfine rlwrap runuser pkexec su-exec gosu tini dumb-init sem faketime softlimit eatmydata pipenv poetry cross-env dotenv entr and or not capsh numactl cgexec chpst trickle start-stop-daemon run-parts s6-setuidgid s6-envuidgid",
  ),
  ...words(1, "sg newgrp flock chroot taskset chrt runcon script su cset systemd-cat logsave setpriv prlimit"),
])

/**
 * Further wrappers, some with a subcommand. Denied commands are searched behind these too. Otherwise they are ordinary
 * programs that the configuration may allow by name.
 */
const lesserWrappers = new Map<string, number>([
  ...words(
    0,
    "choom ssh-agent ifne pee apply cpulimit msgexec msgfilter aa-exec daemonize sshpass autossh mosh mpirun mpiexec srun ccache distcc sccache icecc bear rr heaptrack kcov proot fakechroot schroot systemd-inhibit memusage sotruss uftrace xcrun dbus-launch execlineb gtk-launch watchexec reflex onchange concurrently x-terminal-emulator xterm asciinema wine wine64 box64 wasmtime wasmer",
  ),
  ...words(1, "dtach gdbserver envdir setuidgid envuidgid envchain abduco"),
])
const wrappingSubcommands = new Map<string, readonly [subcommand: string, before: number]>([
  ...subcommands("exec", 0, "pyenv rbenv nodenv goenv jenv asdf mise bundle nvm opam lerna gem composer"),
  ...subcommands("exec", 1, "direnv aws-vault chamber ip"),
  ...subcommands("run", 0, "conda mamba micromamba volta hatch pdm rye devbox doppler op dotenvx foreman coverage"),
  ...subcommands("run", 1, "rustup fnm flatpak"),
])

/** Reports whether the words are a call of one of these further wrappers. */
export function isLesserWrapper(words: readonly string[]): boolean {
  const name = canonicalProgramName(words[0] ?? "")
  const [subcommand] = wrappingSubcommands.get(name) ?? []
  return lesserWrappers.has(name) || (subcommand !== undefined && words.includes(subcommand))
}

/** Wrappers that do not change what runs: `timeout 5 ls` is `ls`. */
const transparent = new Set(["timeout", "time", "nice", "nohup", "stdbuf"])

/** The index of the wrapped program after a plain call of such a wrapper; 0 when there is none. */
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

/** The indexes at which the wrapped program may begin. There are several when an option may or may not take a value. */
export function innerCommandStarts(words: readonly string[]): number[] {
  const name = canonicalProgramName(words[0] ?? "")
  if (!isWrapper(name) && !isLesserWrapper(words)) return []
  const [subcommand, behind] = wrappingSubcommands.get(name) ?? []
  let before = wrappers.get(name) ?? lesserWrappers.get(name) ?? behind ?? 0
  const starts: number[] = []
  for (let at = subcommand === undefined ? 1 : words.indexOf(subcommand) + 1; at < words.length; at++) {
    const word = words[at]!
    if (word.startsWith("-") || /^[A-Za-z_]\w*=/.test(word) || /^[\d.]+[smhd]?$/.test(word)) continue
    starts.push(at)
    if (words[at - 1]!.startsWith("-") && words[at - 1] !== "--") continue
    if (before-- <= 0) break
  }
  return starts
}

/** Builtins that change how later commands behave or run their arguments. */
export const shellChanging: ReadonlySet<string> = new Set(
  "eval source . exec trap alias unalias set shopt enable hash declare typeset local export readonly unset read mapfile readarray let getopts bind complete compgen compopt coproc pushd popd dirs command builtin fc history jobs bg fg wait disown umask ulimit suspend logout return shift break continue caller times help".split(
    " ",
  ),
)

/** Shells. The argument of `-c` is a script of its own. */
export const shells =
  /^(?:(?:ba|da|z|k|mk|pdk|fi|c|tc|a|rba|ya|rk|rz|lk|ok|lok|po|sa|hu|o|y|elvi|xon|pw)?sh|nu|ion|murex)(?:-static|[\d.-]+)?$/

function subcommands(name: string, count: number, programs: string): [string, readonly [string, number]][] {
  return programs.split(" ").map((program) => [program, [name, count]])
}

function words(count: number, names: string): [string, number][] {
  return names.split(" ").map((name) => [name, count])
}
