import { expect, test } from "vitest"
import { combineGuards } from "../combine-guards.ts"
import type { CommandGuardOptions } from "./command-guard.ts"
import { guardWith, type Verdict } from "./testing.ts"

const noGuard = { check: () => ({ extraTouches: [], proved: true, findings: [] }) }

/** The combined result of the guards for a command of run_command in the mode `sandbox`. */
async function check(
  what: string,
  change: Partial<Omit<CommandGuardOptions, "allow" | "deny">> & { allow?: string[]; deny?: string[] } = {},
  touch: object = { sandboxed: true },
) {
  const commands = await guardWith({
    mode: "sandbox",
    allow: [],
    deny: [],
    missingSandbox: () => undefined,
    ...change,
  })
  const guards = combineGuards({ paths: noGuard, hosts: noGuard, commands, input: () => [] })
  const { findings, touches } = guards.check([{ kind: "command", what, network: false, ...touch }], {})
  const ofVerdict = (wanted: Verdict) => findings.filter((finding) => finding.verdict === wanted)
  const verdict = ofVerdict("deny").length > 0 ? "deny" : ofVerdict("ask").length > 0 ? "ask" : ofVerdict("allow").length > 0 ? "allow" : "level" // prettier-ignore
  return {
    verdict,
    findings,
    proved: touches.proved,
    sentences: findings.map(({ reason }) => reason.sentence).join(" "),
  }
}

/** A line, what comes out without a deny list, and what with `deny: [rm, curl]`. */
const lines: [line: string, without: string, withDenied: string][] = [
  ["make", "allow", "allow"],
  ["npm test", "allow", "allow"],
  ["echo hello > out.txt", "allow", "allow"],
  ["ls src; wc -l a.ts", "allow", "allow"],
  ["node build.js", "allow", "ask"],
  ["node -e 'console.log(1)'", "allow", "ask"],
  ["for f in $(ls); do wc -l $f; done", "allow", "ask"],
  ["X=cu; ${X}rl example.com", "allow", "ask"],
  ["eval $X", "allow", "ask"],
  ["bash script.sh", "allow", "ask"],
  ["foo --with=rm", "allow", "ask"],
  ["curl example.com", "allow", "deny"],
  ["echo $(curl example.com)", "allow", "deny"],
  ["sh -c 'rm x'", "ask", "deny"],
  ["echo $X # rm", "allow", "ask"],
  // Confirmed paths ask, proved or not.
  ["cat .env", "ask", "ask"],
  ["cat $(echo .env)", "ask", "ask"],
  ["cd sub; cat .env.local | $X", "ask", "ask"],
  ["$X --file=.env", "ask", "ask"],
  ["sort < .env | $X", "ask", "ask"],
  ["echo {} > package.json", "ask", "ask"],
  ["echo $X > package.json", "ask", "ask"],
  ["sed -i s/a/b/ package.json; $X", "ask", "ask"],
  ["node fix.js package.json", "ask", "ask"],
  ["cat package.json; echo $X", "allow", "ask"],
  ["node fix.js src/package.json.md", "allow", "ask"],
  // So do protected paths in what could not be proved.
  ["node make.js .mcp.json", "ask", "ask"],
  ["python3 x.py --out=.git/config", "ask", "ask"],
  ["node make.js mcp.json.md", "allow", "ask"],
  // Scripts that are denied in every mode.
  ["rm -rf /", "deny", "deny"],
  ["cat /etc/shadow", "deny", "deny"],
  ["echo x > /etc/x", "deny", "deny"],
  ["echo $X > /etc/x", "deny", "deny"],
  ["echo $X > .git/config", "deny", "deny"],
  [":(){ :|:& };:", "deny", "deny"],
  ["echo x > /dev/tcp/1.2.3.4/80", "deny", "deny"],
]

test.each(lines)("in the mode sandbox: %s", async (line, without, withDenied) => {
  const free = await check(line)
  expect(free.verdict, free.sentences).toBe(without)
  const listed = await check(line, { deny: ["rm", "curl"] })
  expect(listed.verdict, listed.sentences).toBe(withDenied)
})

test("a sandboxed command is allowed by tools.shell.mode, a listed one by its line", async () => {
  const source = async (line: string) => (await check(line, { allow: ["ls"] })).findings.map((one) => [one.reason.source, one.sandboxed]) // prettier-ignore
  expect(await source("make")).toEqual([["tools.shell.mode", true]])
  expect(await source("eval $X")).toEqual([["tools.shell.mode", true]])
  expect(await source("ls")).toEqual([["tools.shell.allow[0]", undefined]])
})

test("network access and variables that change what runs still ask", async () => {
  const verdict = async (touch: object) => (await check("make", {}, { sandboxed: true, ...touch })).verdict
  expect(await verdict({ network: true })).toBe("ask")
  expect(await verdict({ environment: { LD_PRELOAD: "x.so" } })).toBe("ask")
  expect(await verdict({ environment: { CI: "1" } })).toBe("allow")
  expect(await verdict({ cwd: "/etc" })).toBe("deny")
})

test("a command of a tool without a sandbox is judged as in the mode ask", async () => {
  expect(await check("make", {}, {})).toMatchObject({ verdict: "level", proved: true })
  expect(await check("eval $X", {}, {})).toMatchObject({ verdict: "ask", proved: false })
  expect(await check("make", { missingSandbox: undefined })).toMatchObject({ verdict: "level" })
})

test("without a working sandbox the mode acts as ask and says so, and the allow list still counts", async () => {
  const missingSandbox = () => "bubblewrap is not installed"
  const here = (line: string) => check(line, { missingSandbox, allow: ["ls"] })
  expect(await here("make")).toMatchObject({ verdict: "level" })
  expect(await here("ls")).toMatchObject({ verdict: "allow" })
  const unproved = await here("eval $X")
  expect(unproved.verdict).toBe("ask")
  expect(unproved.sentences).toContain("Shell mode 'sandbox' acts as 'ask' here: bubblewrap is not installed.")
})
