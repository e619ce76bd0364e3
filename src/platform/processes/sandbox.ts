import { spawnSync } from "node:child_process"
import { closeSync, lstatSync, readlinkSync, realpathSync } from "node:fs"
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path"
import { failure } from "../../core/ending.ts"
import type { CommandVariables } from "./environment.ts"
import type { PrivateFolder } from "./private-folder.ts"
import { socketFilter } from "./seccomp.ts"
import { isWithin } from "./is-within.ts"
import { pathExists } from "./protected-mounts.ts"

/** The file system that a command sees in the sandbox. */
export interface SandboxPlan {
  readonly writable: readonly string[]
  readonly cwd: string
  readonly network: boolean
  /** Folders and files it can read, besides the system's. */
  readonly readable: readonly string[]
  /** Empty in the sandbox. A call may set another HOME, but only this one is writable. */
  readonly home: string | undefined
  /** The size of each of its in-memory folders. */
  readonly tmpMb: number
}

/** A sandbox that works here. */
export interface Sandbox {
  readonly program: string
  readonly filter: Buffer
  /** Options that not every version of bubblewrap has. */
  readonly features: SandboxFeatures
}

export interface SandboxFeatures {
  /** Forbids user namespaces inside; since 0.8. */
  readonly disableUserns: boolean
  /** Limits the size of in-memory folders; since 0.7. */
  readonly tmpfsSize: boolean
}

const featureSets: readonly SandboxFeatures[] = [
  { disableUserns: true, tmpfsSize: true },
  { disableUserns: false, tmpfsSize: true },
  { disableUserns: false, tmpfsSize: false },
]

/** Only folders that root alone can write: a program called `bwrap` in the workspace is not the sandbox. */
const bubblewrapPaths = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap"]

/** Finds bubblewrap and tries it; otherwise says why there is no sandbox. */
export function findSandbox(folder: PrivateFolder, among = bubblewrapPaths): Sandbox | { because: string } {
  if (process.platform !== "linux") return { because: "the sandbox works only on Linux" }
  const program = among.find(pathExists)
  if (program === undefined) {
    return { because: "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)" }
  }
  const filter = socketFilter()
  if (filter === undefined) return { because: `the sandbox cannot block sockets on this processor (${process.arch})` }
  const plan: SandboxPlan = { writable: [], cwd: "/", network: false, readable: [], home: undefined, tmpMb: 1 }
  let because = ""
  for (const features of featureSets) {
    const words = sandboxOptions(plan, [], features)
    const descriptors = [folder.readable(filter), folder.readable(words.join("\0") + "\0")]
    try {
      const { status, signal, stderr, error } = spawnSync(program, [...sandboxArguments, "true"], {
        stdio: ["ignore", "ignore", "pipe", ...descriptors],
        env: {},
        timeout: 10_000,
        killSignal: "SIGKILL",
      })
      if (status === 0) return { program, filter, features }
      // If bubblewrap was killed, nothing is known: only its own failure lets commands run without the sandbox.
      if (signal !== null) throw notTried(signal)
      because ||= error?.message ?? String(stderr).trim().split("\n")[0] ?? ""
    } finally {
      descriptors.forEach((descriptor) => closeSync(descriptor))
    }
  }
  return { because: `bubblewrap does not work here (${because || "it does not say why"})` }
}

const notTried = (signal: string) =>
  failure(`The test of the sandbox was ended by ${signal}, so it is not known whether it works here. Try again.`, {
    toolCode: "sandbox_not_tried",
    transient: true,
  })

/** Descriptor 3 is the filter, 4 the options, so that they do not show in the process list. */
export const sandboxArguments = ["--args", "4", "--"] as const

/**
 * Bubblewrap's options. A command sees programs, a few files of /etc and its own folders. It has no capabilities, sees no
 * other processes, and has the network only if it asks for it. /tmp and the home folder are empty and end with it.
 * `protectedMounts` come last, because a later mount covers an earlier one. The rest of / and /dev is read-only, because
 * it is in memory without a size limit.
 */
export function sandboxOptions(
  plan: SandboxPlan,
  protectedMounts: readonly string[],
  features: SandboxFeatures,
): string[] {
  const { network, readable, writable, home, cwd } = plan
  const size = features.tmpfsSize ? ["--size", String(plan.tmpMb * 1024 * 1024)] : []
  const inMemory = (path: string) => [...size, "--tmpfs", path]
  return [
    ["--unshare-all", "--unshare-user", "--cap-drop", "ALL", "--die-with-parent", "--new-session", "--clearenv"],
    network ? ["--share-net"] : [],
    features.disableUserns ? ["--disable-userns"] : [],
    ["--seccomp", "3"],
    ["--ro-bind", "/usr", "/usr", ...systemLinks()],
    filesOf([...settings, ...(network ? settingsForNetwork : [])]),
    ["--dev", "/dev", ...inMemory("/dev/shm"), "--remount-ro", "/dev", "--proc", "/proc", ...kernelSettings()],
    ["/tmp", "/var/tmp", ...homeFolder(home)].flatMap(inMemory),
    readable.flatMap((path) => ["--ro-bind", path, path]),
    writable.flatMap((path) => ["--bind", path, path]),
    protectedMounts,
    writable.includes("/") ? [] : ["--remount-ro", "/"],
    ["--chdir", cwd],
  ].flat()
}

/** Single files of /etc, because others are secret. */
const settings = [
  "alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "passwd", "group", "nsswitch.conf", "localtime", "timezone", "locale.conf", "locale.alias",
  "os-release", "debian_version", "mime.types", "magic", "magic.mime", "protocols", "services", "terminfo", "inputrc", "fonts", "java", "jvm", "perl", "python3",
  "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/ca-trust/extracted", "crypto-policies", "static",
].map((name) => `/etc/${name}`) // prettier-ignore
const settingsForNetwork = ["resolv.conf", "hosts", "host.conf", "gai.conf"].map((name) => `/etc/${name}`)

const filesOf = (paths: readonly string[]) => paths.flatMap((path) => ["--ro-bind-try", path, path])

/** Read-only, because a command that is root outside could change kernel settings and so run programs outside. */
function kernelSettings(): string[] {
  const places = ["sys", "sysrq-trigger", "irq", "bus", "fs", "scsi", "acpi"].map((name) => `/proc/${name}`)
  return places.filter(pathExists).flatMap((path) => ["--ro-bind", path, path])
}

/** /bin, /lib and the like as they are on this system: links into /usr, or folders. */
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

function certificates(environment: CommandVariables): string[] {
  const names = ["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]
  return names.map((name) => environment[name] ?? "").filter((path) => isAbsolute(path) && pathExists(path))
}

/**
 * The paths named by our own variables: folders of programs, and with the network the trusted certificates. The call's
 * variables are ignored, or it could read any folder. For the same reason paths inside `excluded` are ignored, where a
 * command could replace them by links.
 */
export function readablePaths(ours: CommandVariables, network: boolean, excluded: readonly string[]): string[] {
  const isFree = (path: string) => !excluded.some((folder) => isWithin(path, folder))
  const folders = [...(ours["PATH"] ?? "").split(delimiter), dirname(process.execPath)]
  const named = folders.filter((folder) => isAbsolute(folder) && pathExists(folder) && isFree(resolve(folder)))
  const trusted = network ? certificates(ours).filter((path) => isFree(resolve(path))) : []
  return [...new Set([...named.flatMap(toolFolders), ...trusted])].filter(isFree)
}

const siblings = ["lib", "lib64", "libexec", "share", "include", "versions", "plugins", "pyenv.d", "toolchains", "etc"]
const mountedWhole = /^\/(nix|snap|opt\/[^/]+)(?=\/|$)/
const alreadyThere = /^\/(usr|bin|sbin|lib|lib64|proc|dev)(\/|$)/

/** The folder of a program, and the folders beside it that it needs. */
function toolFolders(path: string): string[] {
  const folder = realpathSync(path)
  if (alreadyThere.test(folder)) return []
  const whole = mountedWhole.exec(folder)?.[0]
  if (whole !== undefined) return [whole]
  const parent = dirname(folder)
  const isOwnFolder =
    /\/(s?bin|shims)$/.test(folder) && !/^\/(root|home\/[^/]+|Users\/[^/]+)?(\/\.local)?$/.test(parent)
  const neighbours = isOwnFolder ? siblings.map((name) => join(parent, name)).filter(pathExists) : []
  const rustup = parent.endsWith("/.cargo")
    ? [join(dirname(parent), ".rustup/toolchains"), join(dirname(parent), ".rustup/settings.toml")]
    : []
  const links = path === folder ? [] : [path]
  return [...links, folder, ...neighbours, ...rustup.filter(pathExists)]
}
