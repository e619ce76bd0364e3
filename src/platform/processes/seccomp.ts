import { endianness } from "node:os"

/**
 * The seccomp filter that bubblewrap installs. It allows only internet and netlink sockets, so that no socket file and
 * no abstract socket reaches a daemon of the host, even with the network shared. It removes io_uring, which could create
 * sockets past the filter, the key rings, and the system calls of other architectures. Undefined for processors whose
 * system call numbers are not listed here.
 */
export function socketFilter(arch: string = process.arch): Buffer | undefined {
  const numbers = endianness() === "LE" ? processors[arch] : undefined
  if (numbers === undefined) return undefined
  const { audit, socket, socketpair, absent } = numbers
  const x32 = arch === "x64" ? [jump("ge", 0x40000000, "absent")] : []
  return assemble([
    load(4),
    jump("eq", audit, undefined, "absent"),
    load(0),
    ...x32,
    ...absent.map((number) => jump("eq", number, "absent")),
    jump("eq", socketpair, "pair"),
    jump("eq", socket, undefined, "allow"),
    load(16),
    ...allowedFamilies.map((family) => jump("eq", family, "allow")),
    jump("ge", 0, "refused"),
    { label: "pair" },
    load(16),
    jump("eq", AF_UNIX, undefined, "refused"),
    // A datagram socket of a pair can be connected to a socket file; a stream socket cannot.
    load(24),
    { code: and, k: 0xf },
    ...connectedKinds.map((kind) => jump("eq", kind, "allow")),
    { label: "refused" },
    { code: ret, k: errno | EPERM },
    { label: "absent" },
    { code: ret, k: errno | ENOSYS },
    { label: "allow" },
    { code: ret, k: allow },
  ])
}

const processors: Record<string, { audit: number; socket: number; socketpair: number; absent: number[] }> = {
  // add_key, request_key, keyctl, io_uring_setup
  x64: { audit: 0xc000003e, socket: 41, socketpair: 53, absent: [248, 249, 250, 425] },
  arm64: { audit: 0xc00000b7, socket: 198, socketpair: 199, absent: [217, 218, 219, 425] },
}
const AF_UNIX = 1
/** AF_INET, AF_INET6, AF_NETLINK. */
const allowedFamilies = [2, 10, 16]
/** SOCK_STREAM, SOCK_SEQPACKET. SOCK_RAW means a datagram socket here. */
const connectedKinds = [1, 5]
const EPERM = 1
const ENOSYS = 38

const loadWord = 0x20
const and = 0x54
const ret = 0x06
const jumps = { eq: 0x15, ge: 0x35 }
const allow = 0x7fff0000
const errno = 0x00050000

type Label = "absent" | "allow" | "pair" | "refused"
interface Instruction {
  code: number
  k: number
  yes?: Label
  no?: Label
}
type Line = Instruction | { label: Label }

/** Loads a word of `seccomp_data`: the system call number is at 0, the architecture at 4, the arguments from 16. */
const load = (offset: number): Instruction => ({ code: loadWord, k: offset })

const jump = (when: keyof typeof jumps, k: number, yes?: Label, no?: Label): Instruction => ({
  code: jumps[when],
  k,
  yes,
  no,
})

function assemble(lines: readonly Line[]): Buffer {
  const positions = new Map<Label, number>()
  const instructions: Instruction[] = []
  for (const line of lines) {
    if ("label" in line) positions.set(line.label, instructions.length)
    else instructions.push(line)
  }
  const bytes = Buffer.alloc(instructions.length * 8)
  instructions.forEach(({ code, k, yes, no }, index) => {
    const distance = (label: Label | undefined) => (label === undefined ? 0 : positions.get(label)! - index - 1)
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(distance(yes), index * 8 + 2)
    bytes.writeUInt8(distance(no), index * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4)
  })
  return bytes
}
