import { isIP } from "node:net"

/**
 * The owner of an IP address: `here` is this machine, `private` a private network, `metadata` a cloud's metadata
 * service or any link-local address, `special` everything that is not a single machine on the internet.
 */
export type AddressKind = "public" | "here" | "private" | "metadata" | "special"

/** The kind of an address in any spelling, including IPv4 addresses inside IPv6 ones. */
export function addressKind(address: string): AddressKind {
  const bytes = bytesOf(address)
  if (bytes === undefined) return "special"
  return bytes.length === 4 ? kindOfFour(bytes) : kindOfSixteen(bytes)
}

/** The canonical text of an IP address; undefined for anything else. */
export function normalIp(text: string): string | undefined {
  const bytes = bytesOf(text)
  if (bytes === undefined) return undefined
  const four = bytes.length === 4 ? bytes : isMapped(bytes) ? bytes.slice(12) : undefined
  if (four !== undefined) return four.join(".")
  return new URL(`http://[${withoutZone(text)}]`).hostname.slice(1, -1)
}

type Range = readonly [kind: AddressKind, first: readonly number[], bits: number]

const four: readonly Range[] = [
  ["metadata", [169, 254, 0, 0], 16],
  ["metadata", [100, 100, 100, 200], 32],
  ["metadata", [168, 63, 129, 16], 32],
  ["metadata", [192, 0, 0, 192], 32],
  ["here", [127, 0, 0, 0], 8],
  ["here", [0, 0, 0, 0], 8],
  ["private", [10, 0, 0, 0], 8],
  ["private", [172, 16, 0, 0], 12],
  ["private", [192, 168, 0, 0], 16],
  ["private", [100, 64, 0, 0], 10],
  ["special", [192, 0, 0, 0], 24],
  ["special", [192, 0, 2, 0], 24],
  ["special", [192, 88, 99, 0], 24],
  ["special", [198, 18, 0, 0], 15],
  ["special", [198, 51, 100, 0], 24],
  ["special", [203, 0, 113, 0], 24],
  ["special", [224, 0, 0, 0], 3],
]

const sixteen: readonly Range[] = [
  ["metadata", groups("fd00:0ec2"), 32],
  ["metadata", groups("fd20:00ce"), 32],
  ["metadata", groups("fe80"), 10],
  ["here", groups("0000:0000:0000:0000:0000:0000:0000:0001"), 128],
  ["here", groups("0000:0000:0000:0000:0000:0000:0000:0000"), 128],
  ["private", groups("fc00"), 7],
  ["private", groups("fec0"), 10],
  ["private", groups("0064:ff9b:0001"), 48],
  ["special", groups("2001:0db8"), 32],
  ["special", groups("2001:0000"), 23],
  ["special", groups("3fff:0000"), 20],
]

/** IPv6 prefixes that contain an IPv4 address, and the byte at which it begins. */
const wrappers: readonly (readonly [prefix: readonly number[], bits: number, at: number])[] = [
  [groups("0000:0000:0000:0000:0000:ffff"), 96, 12],
  [groups("0000:0000:0000:0000:ffff:0000"), 96, 12],
  [groups("0064:ff9b:0000:0000:0000:0000"), 96, 12],
  [groups("2002"), 16, 2],
]
const globalUnicast = groups("2000")

function kindOfFour(bytes: readonly number[]): AddressKind {
  return four.find(([, first, bits]) => startsWith(bytes, first, bits))?.[0] ?? "public"
}

function kindOfSixteen(bytes: readonly number[]): AddressKind {
  for (const [prefix, bits, at] of wrappers)
    if (startsWith(bytes, prefix, bits)) return kindOfFour(bytes.slice(at, at + 4))
  const known = sixteen.find(([, first, bits]) => startsWith(bytes, first, bits))?.[0]
  return known ?? (startsWith(bytes, globalUnicast, 3) ? "public" : "special")
}

function isMapped(bytes: readonly number[]): boolean {
  const [prefix, bits] = wrappers[0]!
  return startsWith(bytes, prefix, bits)
}

function startsWith(bytes: readonly number[], prefix: readonly number[], bits: number): boolean {
  for (let at = 0; at * 8 < bits; at++) {
    const mask = 0xff & (0xff << Math.max(0, 8 - (bits - at * 8)))
    if (((bytes[at]! ^ prefix[at]!) & mask) !== 0) return false
  }
  return true
}

function bytesOf(text: string): readonly number[] | undefined {
  const address = withoutZone(text)
  if (isIP(address) === 4) return address.split(".").map(Number)
  if (isIP(address) !== 6) return undefined
  // The URL parser converts every spelling of an IPv6 address to one.
  const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::")
  const before = head === "" ? [] : head.split(":")
  const after = tail === undefined || tail === "" ? [] : tail.split(":")
  const between = Array.from({ length: 8 - before.length - after.length }, () => "0")
  return groups([...before, ...between, ...after].join(":"))
}

/** `fe80::1%eth0` is the address `fe80::1`. */
function withoutZone(text: string): string {
  return text.replace(/%.*$/s, "")
}

function groups(text: string): number[] {
  return text.split(":").flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}
