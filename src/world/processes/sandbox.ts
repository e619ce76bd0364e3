import { spawnSync } from "node:child_process"
import { closeSync, lstatSync, readlinkSync, realpathSync } from "node:fs"
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path"
import { failure } from "../../model/ending.ts"
import type { Environment } from "./environment.ts"
import type { PrivateFolder } from "./folder.ts"
import { socketFilter } from "./seccomp.ts"
import { isThere, isWithin } from "./seals.ts"

/** What a command sees in the sandbox. */
export interface SandboxPlan {
  readonly writable: readonly string[]
  readonly cwd: string
  readonly network: boolean
  /** Folders and files besides the system's that it can read. */
  readonly readable: readonly string[]
  /** Empty inside. A call may say another one, but only this can be written in. */
  readonly home: string | undefined
  /** How much fits into each of its folders that are in memory. */
  readonly tmpMb: number
}

/** A sandbox that works here. */
export interface Sandbox {
  readonly program: string
  readonly filter: Buffer
  /** What not every version of bubblewrap knows, as far as it works here. */
  readonly extra: SandboxExtra
}

export interface SandboxExtra {
  /** No user namespace can be made inside; from 0.8. */
  readonly noNamespaces: boolean
  /** Folders in memory can be given a size; from 0.7. */
  readonly sizes: boolean
}

const extras: readonly SandboxExtra[] = [
  { noNamespaces: true, sizes: true },
  { noNamespaces: false, sizes: true },
  { noNamespaces: false, sizes: false },
]

/** Only from folders that nobody but root writes: a program of this name in the workspace is not the sandbox. */
const places = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"]

/** Looks for bubblewrap and tries it; else says why there is none. */
export function findSandbox(folder: PrivateFolder, among = places): Sandbox | { because: string } {
  if (process.platform !== "linux") return { because: "there is no sandbox for this system, only for Linux" }
  const program = among.find(isThere)
  if (program === undefined) {
    return { because: "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)" }
  }
  const filter = socketFilter()
  if (filter === undefined) return { because: `sockets cannot be kept out on this processor (${process.arch})` }
  const plan = { writable: [], cwd: "/", network: false, readable: [], home: undefined, tmpMb: 1 }
  let because = ""
  for (const extra of extras) {
    const words = sandboxWords(plan, [], extra)
    const descriptors = [folder.readable(filter), folder.readable(words.join("\0") + "\0")]
    try {
      const { status, signal, stderr, error } = spawnSync(program, [...sandboxArguments, "true"], {
        stdio: ["ignore", "ignore", "pipe", ...descriptors],
        env: {},
        timeout: 10_000,
        killSignal: "SIGKILL",
      })
      if (status === 0) return { program, filter, extra }
      // Only its own answer says that it does not work here, and lets commands run without it.
      if (signal !== null) throw notTried(signal)
      because ||= error?.message ?? String(stderr).trim().split("\n")[0] ?? ""
    } finally {
      descriptors.forEach((descriptor) => closeSync(descriptor))
    }
  }
  return { because: `bubblewrap does not work here (${because || "it does not say why"})` }
}

const notTried = (signal: string) =>
  failure(`The sandbox was tried, and ended by ${signal} before it could say whether it works here. Try again.`, {
    toolCode: "sandbox_not_tried",
    transient: true,
  })

/** The filter is descriptor 3, the words are 4: in the list of processes nobody reads what is in them. */
export const sandboxArguments = ["--args", "4", "--"] as const

/**
 * Bubblewrap's words: nothing of the disk but programs, a few files of /etc and the writable folders; no capability, no
 * other process, no network unless it is asked for; /tmp and the home folder are empty and end with the command.
 * `seals` stand after all that, because a later mount covers an earlier one. What is left of the root and of /dev is
 * memory without a size, so nothing can be made there.
 */
export function sandboxWords(plan: SandboxPlan, seals: readonly string[], extra: SandboxExtra): string[] {
  const { network, readable, writable, home, cwd } = plan
  const size = extra.sizes ? ["--size", String(plan.tmpMb * 1024 * 1024)] : []
  const inMemory = (path: string) => [...size, "--tmpfs", path]
  return [
    ["--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"],
    network ? ["--share-net"] : [],
    extra.noNamespaces ? ["--disable-userns"] : [],
    ["--seccomp", "3"],
    ["--ro-bind", "/usr", "/usr", ...systemLinks()],
    filesOf([...settings, ...(network ? settingsForNetwork : [])]),
    ["--dev", "/dev", ...inMemory("/dev/shm"), "--remount-ro", "/dev", "--proc", "/proc", ...kernelSettings()],
    ["/tmp", "/var/tmp", ...homeFolder(home)].flatMap(inMemory),
    readable.flatMap((path) => ["--ro-bind", path, path]),
    writable.flatMap((path) => ["--bind", path, path]),
    seals,
    writable.includes("/") ? [] : ["--remount-ro", "/"],
    ["--chdir", cwd],
  ].flat()
}

/** Single files of /etc, because others in it are secrets. */
const settings = [
  "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf", "localtime", "timezone", "locale.conf", "locale.alias",
  "os-release", "debian_version", "mime.types", "magic", "magic.mime", "protocols", "services", "terminfo", "inputrc", "fonts", "java", "jvm", "perl", "python3",
  "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/ca-trust/extracted", "crypto-policies", "static",
].map((name) => `/etc/${name}`) // prettier-ignore
const settingsForNetwork = ["resolv.conf", "hosts", "host.conf", "gai.conf"].map((name) => `/etc/${name}`)

const filesOf = (paths: readonly string[]) => paths.flatMap((path) => ["--ro-bind-try", path, path])

/** Who is root outside could change the kernel's settings through them, and with those run programs outside. */
function kernelSettings(): string[] {
  const places = ["sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi"].map((name) => `/proc/${name}`)
  return places.filter(isThere).flatMap((path) => ["--ro-bind", path, path])
}

/** /bin and its like, as they are here: links into /usr, or folders of their own. */
function systemLinks(): string[] {
  return ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].flatMap((path) => {
    const facts = lstatSync(path, { throwIfNoEntry: false })
    if (facts === undefined) return []
    return facts.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path]
  })
}

function homeFolder(home: string | undefined): string[] {
  return home !== undefined && isAbsolute(home) && home !== "/" && !isWithin(home, "/usr") ? [home] : []
}

function certificates(environment: Environment): string[] {
  const names = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]
  return names.map((name) => environment[name] ?? "").filter((path) => isAbsolute(path) && isThere(path))
}

/**
 * What our own variables name: folders of programs, and with the network the certificates that are believed. Those of a
 * call name nothing, else it could have any folder of the machine; for the same reason nothing counts whose name is in
 * one of `elsewhere`, where a command could make a link of it.
 */
export function readablePlaces(ours: Environment, network: boolean, elsewhere: readonly string[]): string[] {
  const isFree = (path: string) => !elsewhere.some((folder) => isWithin(path, folder))
  const folders = [...(ours["PATH"] ?? "").split(delimiter), dirname(process.execPath)]
  const named = folders.filter((folder) => isAbsolute(folder) && isThere(folder) && isFree(resolve(folder)))
  const believed = network ? certificates(ours).filter((path) => isFree(resolve(path))) : []
  return [...new Set([...named.flatMap(toolFolders), ...believed])].filter(isFree)
}

const beside = ["lib", "lib64", "libexec", "share", "include", "versions", "plugins", "pyenv.d", "toolchains", "etc"]
const whole = /^\/(nix|snap|opt\/[^/]+)(?=\/|$)/
const alreadyThere = /^\/(usr|bin|sbin|lib|lib64|proc|dev)(\/|$)/

/** The folder a program stands in, and what stands beside it that it needs. */
function toolFolders(given: string): string[] {
  const folder = realpathSync(given)
  if (alreadyThere.test(folder)) return []
  const wholePlace = whole.exec(folder)?.[0]
  if (wholePlace !== undefined) return [wholePlace]
  const above = dirname(folder)
  const isOwnFolder = /\/(s?bin|shims)$/.test(folder) && !/^\/(root|home\/[^/]+|Users\/[^/]+)?(\/\.local)?$/.test(above)
  const neighbours = isOwnFolder ? beside.map((name) => join(above, name)).filter(isThere) : []
  const rustup = above.endsWith("/.cargo")
    ? [join(dirname(above), ".rustup/toolchains"), join(dirname(above), ".rustup/settings.toml")]
    : []
  const links = given === folder ? [] : [given]
  return [...links, folder, ...neighbours, ...rustup.filter(isThere)]
}
