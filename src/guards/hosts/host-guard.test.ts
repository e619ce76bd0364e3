import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { parseUrl } from "../../lib/url.ts"
import { addressKind } from "./ip-address.ts"
import { hostLineMistake, type HostLine } from "./host-entries.ts"
import { hostLists, type HostOptions } from "./host-lists.ts"
import { hostGuard } from "./host-guard.ts"

interface Case {
  input: string
  expect: "allow" | "ask" | "deny"
  why: string
  when?: "run"
}

const casesOf = (file: string): Case[] =>
  readFileSync(join(import.meta.dirname, "../testing/cases", file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Case)

const lines = (list: "allow" | "deny", ...texts: string[]): HostLine[] =>
  texts.map((text, at) => ({ text, source: `tools.hosts.${list}[${at}]` }))

const policy: HostOptions = {
  allow: lines("allow", "docs.example.com", "*.trusted.example", "github.com"),
  deny: [],
  own: () => [],
}

const strict: HostOptions = {
  allow: [
    ...policy.allow,
    ...lines("allow", "127.0.0.1:9100", "registry.corp:5000", "*.trusted.internal:8080", "169.254.169.254:9100"),
  ],
  deny: lines("deny", "*.denied.example", "bad.trusted.example"),
  own: () => ["http://127.0.0.1:7420", "https://qm.trusted.example"],
}

function verdict(options: HostOptions, what: string): "allow" | "ask" | "deny" {
  const { findings, allowedBy } = hostGuard(options).check([{ kind: "host", what }], {})
  if (findings.some(({ verdict }) => verdict === "deny")) return "deny"
  return allowedBy !== undefined && findings.length === 0 ? "allow" : "ask"
}

describe("addresses are judged as in the case tables", () => {
  // Cases that are judged at connect time are tested where connections are made.
  const now = casesOf("urls.jsonl").filter(({ when }) => when === undefined)
  test.each(now)("$input: $expect, $why", (one) => expect(verdict(policy, one.input)).toBe(one.expect))
  test.each(casesOf("own.urls.jsonl"))("$input: $expect, $why", (one) =>
    expect(verdict(strict, one.input)).toBe(one.expect),
  )
})

test("extra touches are bare hosts, each once, and other touches are ignored", () => {
  const look = hostGuard(policy).check(
    [
      { kind: "host", what: "https://DOCS.example.com./a?token=1" },
      { kind: "host", what: "https://docs.example.com/b" },
      { kind: "host", what: "https://bücher.example:8443/" },
      { kind: "host", what: "https://[2606:4700::1111]/" },
      { kind: "read", what: "https://docs.example.com/" },
    ],
    {},
  )
  expect(look.extraTouches).toEqual([
    { kind: "host", what: "docs.example.com" },
    { kind: "host", what: "xn--bcher-kva.example" },
    { kind: "host", what: "2606:4700::1111" },
  ])
  expect(look.proved).toBe(true)
  expect(hostGuard(policy).check([{ kind: "command", what: "ls" }], {})).toEqual({
    extraTouches: [],
    proved: true,
    findings: [],
  })
})

test("an address is parsed the same after very many others", () => {
  const lists = hostLists(policy)
  for (let at = 0; at < 20_000; at++) lists.judge(`https://a${at % 10}.trusted.example/`)
  expect(lists.judge("https://bücher.trusted.example/").verdict).toBe("allow")
})

test("a deny has its code, an ask binds, and each names the host and the line that decided", () => {
  const finding = (what: string) => hostGuard(strict).check([{ kind: "host", what }], {}).findings[0]
  expect(finding("http://10.1.2.3/")).toMatchObject({
    verdict: "deny",
    code: "host_denied",
    reason: { check: "guard", sentence: expect.stringContaining('"10.1.2.3:80"') },
  })
  expect(finding("https://a.denied.example/")?.reason).toMatchObject({
    source: "tools.hosts.deny[0]",
    sentence: "a.denied.example is on the list of denied hosts (*.denied.example).",
  })
  expect(finding("https://github.com:22/")).toMatchObject({
    verdict: "ask",
    reason: { source: "tools.hosts.allow[2]", binding: true, sentence: expect.stringContaining("github.com:22") },
  })
  expect(finding("http://evil.test/")?.reason.sentence).toContain("not encrypted")
  expect(finding("https://evil.test/")).toBeUndefined()
})

test("a call is allowed by the list only when a line allows every host", () => {
  const look = (...addresses: string[]) =>
    hostGuard(policy).check(
      addresses.map((what) => ({ kind: "host" as const, what })),
      {},
    ).allowedBy
  expect(look("https://github.com/", "https://a.trusted.example/")).toEqual({
    check: "guard",
    source: "tools.hosts.allow[2], tools.hosts.allow[1]",
    code: "hosts_allowed",
    params: { hosts: ["github.com", "a.trusted.example"] },
    sentence:
      "github.com is on the list of allowed hosts. a.trusted.example is on the list of allowed hosts (*.trusted.example).",
  })
  expect(look("https://github.com/", "https://evil.test/")).toBeUndefined()
  expect(look("https://github.com/", "http://10.0.0.1/")).toBeUndefined()
})

test("no sentence shows the password of an address", () => {
  for (const what of [
    "https://ann:hunter2@docs.example.com/",
    "ftp://ann:hunter2@x/",
    "ann:hunter2@host",
    "x:hunter2@",
  ])
    expect(JSON.stringify(hostGuard(policy).check([{ kind: "host", what }], {}))).not.toContain("hunter2")
})

test("an address from the configuration may be private and have any port, but is not allowed by that alone", () => {
  const look = (what: string) => hostGuard(strict).check([{ kind: "host", what, configured: true }], {})
  expect(look("http://127.0.0.1:8099/search")).toMatchObject({ findings: [], allowedBy: undefined })
  for (const what of ["http://169.254.169.254/", "http://127.0.0.1:7420/", "https://denied.example/"])
    expect(look(what).findings[0]).toMatchObject({ verdict: "deny" })
})

test.each([
  "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::1]", "metadata.google.internal", "metadata", "[::ffff:169.254.169.254]",
])("no line allows the metadata address %s", (host) => {
  const opened = { ...policy, allow: lines("allow", `${host}:80`, "*") }
  expect(verdict(opened, `http://${host}/`)).toBe("deny")
  expect(hostGuard(opened).check([{ kind: "host", what: `http://${host}/`, configured: true }], {}).findings).toHaveLength(1)
}) // prettier-ignore

test("no line allows our own address, under any name of this machine", () => {
  const names = ["127.0.0.1", "127.0.0.2", "localhost", "[::1]", "0.0.0.0", "[::]", "a.localhost", "[::ffff:127.0.0.1]"]
  for (const own of names) {
    const allow = lines("allow", ...names.flatMap((name) => [`${name}:7420`, `${name}:7421`]))
    const withOwn = { ...policy, allow, own: () => [`http://${own}:7420`] }
    for (const name of names) {
      expect([own, name, verdict(withOwn, `http://${name}:7420/`)]).toEqual([own, name, "deny"])
      expect([own, name, verdict(withOwn, `http://${name}:7421/`)]).toEqual([own, name, "allow"])
    }
  }
})

test.each([
  ["allow", "https://docs.example.com/path"],
  ["allow", "user@docs.example.com"],
  ["allow", ""],
  ["allow", "docs.*.com"],
  ["allow", "*docs.example.com"],
  ["allow", "*.com"],
  ["allow", "*.10.0.0.1"],
  ["allow", "ftp://docs.example.com"],
  ["allow", "a b"],
  ["deny", "a..b"],
  ["deny", "[::1"],
] as const)("a line for %s that cannot be meant is refused with a sentence: %j", (list, text) => {
  expect(hostLineMistake(text, list)).toEqual(expect.any(String))
  expect(() => hostGuard({ ...policy, [list]: [{ text, source: `tools.hosts.${list}[0]` }] })).toThrow(
    `tools.hosts.${list}[0]`,
  )
})

test.each([
  "docs.example.com",
  "*.example.com",
  "*",
  "LOCALHOST:3000",
  "[::1]:8080",
  "https://a.example",
  "bücher.example:1",
])("a valid line is parsed: %s", (text) => expect(hostLineMistake(text, "allow")).toBeUndefined())

test("an IPv6 address is the same host however it is written, in lists and in addresses", () => {
  const listed = {
    ...policy,
    allow: lines("allow", "[2606:4700::1111]", "[2606:4700:0::2222]:8443", "[fd12::1]:3000"),
    deny: lines("deny", "[2606:4700::bad]", "[::ffff:1.1.1.1]"),
  }
  const verdicts = {
    "https://[2606:4700::1111]/": "allow",
    "https://[2606:4700:0:0:0:0:0:1111]/": "allow",
    "https://[2606:4700::0.0.17.17]:443/": "allow",
    "https://[2606:4700::1111]:8443/": "ask",
    "https://[2606:4700::1112]/": "ask",
    "https://[2606:4700::2222]:8443/": "allow",
    "https://[2606:4700::2222]/": "ask",
    "http://[fd12:0::1]:3000/": "allow",
    "http://[fd12::1]:3001/": "deny",
    "http://[fd12::1]/": "deny",
    "https://[2606:4700:0::BAD]/": "deny",
    "https://1.1.1.1/": "deny",
    "https://[::ffff:101:101]/": "deny",
  }
  for (const [what, expected] of Object.entries(verdicts))
    expect([what, verdict(listed, what)]).toEqual([what, expected])
  expect(
    hostGuard(listed).check([{ kind: "host", what: "http://[fd12::2]:3000/" }], {}).findings[0]?.reason.sentence,
  ).toContain('"[fd12::2]:3000"')
})

test("a line that names http or https is for that alone, and * is every public host on its usual ports", () => {
  const only = { ...policy, allow: lines("allow", "https://docs.example.com") }
  expect([verdict(only, "https://docs.example.com/"), verdict(only, "http://docs.example.com/")]).toEqual([
    "allow",
    "ask",
  ])
  const any = { ...policy, allow: lines("allow", "*") }
  expect(
    ["https://a.test/", "http://a.test/", "https://a.test:8443/", "http://10.0.0.1/", "http://localhost/"].map((what) =>
      verdict(any, what),
    ),
  ).toEqual(["allow", "allow", "ask", "deny", "deny"])
})

test("law: every spelling of an IPv4 address is judged like the address, never looser", () => {
  fc.assert(
    fc.property(fourBytes, writing, (bytes, write) => {
      const plain = bytes.join(".")
      const what = `http://${write(bytes)}/`
      const expected = verdict(policy, `http://${plain}/`)
      expect(expected).toBe(addressKind(plain) === "public" ? "ask" : "deny")
      // Nothing connects to a text that the parser rejects.
      expect(verdict(policy, what)).toBe(parseUrl(what) !== undefined ? expected : "deny")
    }),
    { numRuns: 1500 },
  )
})

test("law: an IPv4 address inside an IPv6 address is judged like the IPv4 address", () => {
  fc.assert(
    fc.property(fourBytes, wrapping, sixWriting, (bytes, wrap, write) => {
      const kind = addressKind(bytes.join("."))
      const host = `[${write(wrap(bytes))}]`
      const judged = verdict(policy, `http://${host}/`)
      expect(judged).toBe(kind === "public" ? "ask" : "deny")
    }),
    { numRuns: 1000 },
  )
})

test("law: a connection to an address that is not public is refused, whatever the host name", () => {
  const lists = hostLists(policy)
  fc.assert(
    fc.property(fourBytes, fc.domain(), (bytes, name) => {
      const { address } = lists.judge(`https://${name}.example/`)
      const ip = bytes.join(".")
      expect(lists.refused(address!, ip) === undefined).toBe(addressKind(ip) === "public")
      expect(lists.refused(address!, `::ffff:${ip}`) === undefined).toBe(addressKind(ip) === "public")
    }),
    { numRuns: 500 },
  )
})

test("law: no text is allowed unless the parser reads an allowed host from it", () => {
  const near = fc.constantFrom("docs.example.com", "evil.test", "@", ":", "//", "/", "\\", "?", "#", ".", "%2e", "%40", "443", " ", "https:", "http:", "\t", "[", "]", "127.0.0.1", "。") // prettier-ignore
  fc.assert(
    fc.property(fc.array(near, { maxLength: 7 }), (parts) => {
      const what = `https://${parts.join("")}`
      if (verdict(policy, what) !== "allow") return
      const { hostname, username, password, protocol } = new URL(what)
      expect([hostname.replace(/\.$/, ""), username, password, protocol]).toEqual([
        "docs.example.com",
        "",
        "",
        "https:",
      ])
    }),
    { numRuns: 3000 },
  )
})

test("at connect time a name may resolve to a private address only if a line names it with its port", () => {
  const lists = hostLists(strict)
  const to = (what: string, ip: string, more = {}) => lists.refused(lists.judge(what).address!, ip, more)
  expect(to("https://registry.corp:5000/", "10.0.0.7")).toBeUndefined()
  expect(to("https://registry.corp:5000/", "169.254.169.254")).toContain("link-local")
  expect(to("https://docs.example.com/", "10.0.0.7")).toContain("docs.example.com leads to 10.0.0.7")
  expect(to("https://docs.example.com/", "fe80::1%eth0")).toContain("No tool reaches it")
  expect(to("https://docs.example.com/", "93.184.215.14")).toBeUndefined()
  expect(to("http://evil.test:7420/", "93.184.215.14")).toBeUndefined()
  expect(to("http://evil.test:7420/", "93.184.215.14", { ofThisMachine: true })).toContain("Quartermaster itself")
  expect(to("http://127.0.0.1:9100/", "127.0.0.1")).toBeUndefined()
  const denies = hostLists({ ...policy, deny: lines("deny", "93.184.215.14") })
  expect(denies.refused(denies.judge("https://a.test/").address!, "93.184.215.14")).toContain("tools.hosts.deny[0]")
})

/** Near the edges of what is private, and anywhere. */
const fourBytes = fc.oneof(
  fc.constantFrom([127, 0, 0, 1], [10, 0, 0, 1], [169, 254, 169, 254], [192, 168, 0, 1], [100, 100, 100, 200], [172, 16, 0, 1], [0, 0, 0, 0], [100, 64, 0, 1], [8, 8, 8, 8], [172, 32, 0, 1], [128, 0, 0, 1]), // prettier-ignore
  fc.tuple(
    fc.constantFrom(0, 9, 10, 11, 100, 126, 127, 128, 168, 169, 172, 192, 198, 203, 223, 224, 255),
    fc.constantFrom(0, 15, 16, 18, 31, 32, 63, 64, 127, 128, 167, 168, 169, 253, 254, 255),
    fc.nat(255),
    fc.nat(255),
  ),
)

const digitForms = [
  (text: string) => text,
  (text: string) => text.replace(/\d/g, (digit) => String.fromCodePoint(0xff10 + Number(digit))),
  (text: string) => text.replace(/\d/g, (digit) => `%3${digit}`),
  (text: string) => text.replace(/[1-9]/g, (digit) => String.fromCodePoint(0x2460 + Number(digit) - 1)),
]
const numberForms = [
  (value: number) => String(value),
  (value: number) => `0x${value.toString(16)}`,
  (value: number) => `0X${value.toString(16).toUpperCase()}`,
  (value: number) => `0${value.toString(8)}`,
  (value: number) => `0x000000${value.toString(16)}`,
]
const writing = fc
  .record({
    parts: fc.integer({ min: 1, max: 4 }),
    numbers: fc.array(fc.constantFrom(...numberForms), { minLength: 4, maxLength: 4 }),
    digits: fc.constantFrom(...digitForms),
    dot: fc.constantFrom(".", "。", "．", "%2e"),
    end: fc.constantFrom("", "."),
  })
  .map(({ parts, numbers, digits, dot, end }) => (bytes: readonly number[]) => {
    const head = bytes.slice(0, parts - 1)
    const tail = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0)
    return digits([...head, tail].map((value, at) => numbers[at]!(value)).join(dot)) + end
  })

const hex = (bytes: readonly number[]) => [
  ((bytes[0]! << 8) | bytes[1]!).toString(16),
  ((bytes[2]! << 8) | bytes[3]!).toString(16),
]
const wrapping = fc.constantFrom(
  (bytes: readonly number[]) => ["0", "0", "0", "0", "0", "ffff", ...hex(bytes)],
  (bytes: readonly number[]) => ["64", "ff9b", "0", "0", "0", "0", ...hex(bytes)],
  (bytes: readonly number[]) => ["2002", ...hex(bytes), "0", "0", "0", "0", "1"],
)
const sixWriting = fc.constantFrom(
  (groups: string[]) => groups.join(":"),
  (groups: string[]) => groups.map((group) => group.padStart(4, "0").toUpperCase()).join(":"),
  (groups: string[]) => groups.join(":").replace(/(^|:)0(:0)+(:|$)/, "::"),
  (groups: string[]) => {
    const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16))
    return `${groups.slice(0, 6).join(":")}:${high! >> 8}.${high! & 255}.${low! >> 8}.${low! & 255}`
  },
)
