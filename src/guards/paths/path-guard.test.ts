import { execFileSync } from "node:child_process"
import { once } from "node:events"
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { GuardResult } from "../../core/guard.ts"
import type { Touch } from "../../core/touches.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { compileRule, ruleMatches } from "../../policy/rules/conditions.ts"
import { createPathPolicy, type PathPolicyOptions } from "./path-policy.ts"
import { pathGuard } from "./path-guard.ts"

interface Case {
  input: string
  expect: "allow" | "ask" | "deny"
  why: string
  op: "read" | "write"
}

/** A folder in place of /ws with the fixtures of the cases, and one outside it. The tests only read them. */
const { workspace, outside } = workspaceWithLinks()
const socket = createServer()
beforeAll(async () => {
  socket.listen(join(workspace, "socket"))
  await once(socket, "listening")
})
afterAll(() => {
  socket.close()
  rmSync(dirname(workspace), { recursive: true })
})

function workspaceWithLinks(): { workspace: string; outside: string } {
  const dir = mkdtempSync(join(realpathSync(tmpdir()), "qm-test-"))
  const [workspace, outside] = [join(dir, "ws"), join(dir, "outside")]
  for (const folder of ["src", "newdir", "docs", ".git", ".quartermaster", "secrets", "..foo"])
    mkdirSync(join(workspace, folder), { recursive: true })
  for (const folder of [outside, join(dir, "ws-evil")]) mkdirSync(folder)
  const files = [
    "src/a.ts",
    "..foo/bar.txt",
    ".env",
    "package.json",
    ".git/config",
    "secrets/db.txt",
    "a b.txt",
    "docs/two.md",
  ]
  for (const file of [...files, "../ws-evil/x", ".quartermaster/quartermaster.db"])
    writeFileSync(join(workspace, file), "")
  const links: Record<string, string> = {
    "dangling.txt": join(outside, "newfile"),
    "newdir/link2": outside,
    "src/up": "../../..",
    "link-in": "src",
    "abs-in": join(workspace, "src/a.ts"),
    self: ".",
    "inside-dangling": "src/not-yet.txt",
    notes: ".env",
    "proc-link": "/proc/self",
    loop: "loop",
    "out-and-in": join(outside, "back"),
    chain: "newdir/link2",
    gitlink: ".git",
    ".hg": "docs",
    "data-link": ".quartermaster",
    "to-secrets": "secrets",
    "back-src": "../ws/src",
    "chain-a": "abs-in",
    "alias-s": "secrets/db.txt",
    "chain-s": "alias-s",
    loop1: "loop2",
    loop2: "loop1",
    "git-conf": ".git/config",
    hk: ".git/hooks",
    pkg: "package.json",
    "pkg-env": "docs/../.env",
    "dang-git": ".git/hooks/new",
    "dang-s": "secrets/new",
    "dang-chain": "dangling.txt",
    "fifo-link": "fifo",
    "hard-link": "hard-out",
  }
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(workspace, name))
  symlinkSync(join(workspace, "src"), join(outside, "back"))
  linkSync(join(workspace, "docs/two.md"), join(workspace, "hard-a"))
  linkSync(join(dir, "ws-evil/x"), join(workspace, "hard-out"))
  execFileSync("mkfifo", [join(workspace, "fifo")])
  return { workspace, outside }
}

function guardOf(options: Partial<PathPolicyOptions> = {}) {
  const guard = pathGuard(
    createPathPolicy({
      workspace,
      privatePaths: [join(workspace, ".quartermaster")],
      home: "/home/nobody",
      ...options,
    }),
  )
  const look = (op: Touch["kind"], what: string, allowedPaths?: string[]) =>
    guard.check([{ kind: op, what: what.replace(/^\/ws(?=\/|-|$)/, workspace) }], { allowedPaths })
  return { guard, look }
}

/** The verdict of the guard together with the rule of the cases: no tool touches `secrets`. */
function verdictOf({ findings, extraTouches }: GuardResult, touch: Touch): Case["expect"] {
  const rule = {
    id: "r",
    verdict: "deny",
    tool: "*",
    touching: ["file:secrets/**"],
    because: "x",
    source: "x",
  } as const
  const compiled = compileRule(rule, 0, { canonical: (name) => name, inGroups: () => false })!
  const touches = { list: [touch, ...extraTouches], proved: true }
  if (
    findings.some(({ verdict }) => verdict === "deny") ||
    ruleMatches(compiled, { input: {}, touches, workspace, at: 0 })
  )
    return "deny"
  return findings.some(({ verdict }) => verdict === "ask") ? "ask" : "allow"
}

function casesOf(file: string): [string, Case][] {
  const lines = readFileSync(join(import.meta.dirname, "../testing/cases", file), "utf8")
    .trim()
    .split("\n")
  const cases = lines.map((line) => JSON.parse(line) as Case)
  return cases.map((one) => [`${one.op} ${JSON.stringify(one.input)} is ${one.expect}: ${one.why}`, one])
}

/** Uses the same touches as the file tools. */
function judge({ op, input }: Case): Case["expect"] {
  const touch = { kind: op, what: input.replace(/^\/ws(?=\/|-|$)/, workspace), opens: true }
  return verdictOf(guardOf().guard.check([touch], {}), touch)
}

test.each(casesOf("paths.jsonl"))("a case of the designs is never judged looser: %s", (_, one) => {
  const order = ["allow", "ask", "deny"]
  if (one.expect === "allow") expect(judge(one)).toBe("allow")
  else expect(order.indexOf(judge(one))).toBeGreaterThanOrEqual(order.indexOf(one.expect))
})

test.each(casesOf("own.paths.jsonl"))("%s", (_, one) => expect(judge(one)).toBe(one.expect))

test("only a touch that opens a file needs a regular file with one name", () => {
  const { look } = guardOf()
  for (const [op, name] of [["read", "fifo"], ["write", "fifo"], ["write", "hard-out"]] as const) expect(look(op, name).findings).toEqual([]) // prettier-ignore
  const [finding] = guardOf().guard.check([{ kind: "write", what: "hard-out", opens: true }], {}).findings
  expect(finding).toMatchObject({ verdict: "deny", code: "permission_denied", reason: { source: "hard links" } })
  expect(finding!.reason.sentence).toContain("'hard-out' has 2 names")
})

test("no path through /proc is allowed, not even to the workspace", () => {
  expect(guardOf().look("read", `/proc/self/root${workspace}/src/a.ts`).findings).toMatchObject([{ verdict: "deny" }])
})

test("a path outside is refused with the sentences of both designs", () => {
  const { look } = guardOf()
  const [finding] = look("read", "/etc/passwd").findings
  expect(finding).toMatchObject({ verdict: "deny", code: "path_outside_workspace", reason: { check: "guard" } })
  expect(finding!.reason.sentence).toContain("Path is outside workspace directory")
  expect(finding!.reason.sentence).toContain("Access denied")
  expect(finding!.reason.sentence).toContain("/etc/passwd")
})

test("a folder whose name begins like the workspace is outside", () => {
  const { look } = guardOf()
  expect(look("read", `${workspace}-evil/x`).findings[0]).toMatchObject({ code: "path_outside_workspace" })
  expect(look("read", `${workspace}/x`).findings).toEqual([])
})

test("the target of a link is touched too, relative to the workspace", () => {
  const { look } = guardOf()
  expect(look("read", "link-in/a.ts").extraTouches).toEqual([{ kind: "read", what: "src/a.ts" }])
  expect(look("write", "inside-dangling").extraTouches).toEqual([{ kind: "write", what: "src/not-yet.txt" }])
  expect(look("read", "src/a.ts").extraTouches).toEqual([])
})

test("a link to the outside also touches its target", () => {
  const { look } = guardOf()
  expect(look("write", "newdir/link2/new.txt")).toMatchObject({
    extraTouches: [{ kind: "write", what: join(outside, "new.txt") }],
    findings: [{ code: "path_outside_workspace" }],
  })
})

test("a confirmed path is a binding ask, and a protected path is denied as permission_denied", () => {
  const { look } = guardOf()
  expect(look("read", ".env").findings).toMatchObject([
    { verdict: "ask", reason: { binding: true, source: "confirmed paths" } },
  ])
  expect(look("write", ".git/config").findings).toMatchObject([{ verdict: "deny", code: "permission_denied", reason: { source: "protected paths" } }]) // prettier-ignore
})

test("tools.allowedPaths are the only places, in the workspace and outside it, and allow nothing by themselves", () => {
  const dir = temporaryFolder()
  mkdirSync(join(dir, "shared"))
  const { look } = guardOf({ allowedPaths: [join(dir, "shared"), "./docs", "src/**"] })
  for (const path of [join(dir, "shared/x.txt"), "docs/x.md", "docs", "src", "link-in/a.ts", "src/../docs/two.md"])
    for (const op of ["read", "write"] as const)
      expect([look(op, path).findings, look(op, path).allowedBy], path).toEqual([[], undefined])
  const outsidePaths = [".", "new.md", "docs-not/x", "secrets/db.txt", "src/../a b.txt", "to-secrets/db.txt", "newdir/link2/x"] // prettier-ignore
  for (const path of [...outsidePaths, join(dir, "shared-not/x.txt"), "/etc/passwd"])
    expect(look("read", path).findings, path).toMatchObject([
      { code: "path_outside_workspace", reason: { source: "tools.allowedPaths", code: "path_not_allowed" } },
    ])
  expect(look("read", "a.md").findings[0]!.reason.sentence).toMatch(/Access denied: .*Use a path in .*'\.\/docs'/)
})

test("an empty list of tools.allowedPaths opens no path", () => {
  const { look } = guardOf({ allowedPaths: [] })
  expect(look("read", "src/a.ts").findings).toMatchObject([{ code: "path_outside_workspace" }])
})

test("an allowed folder still has protected and confirmed paths", () => {
  const { look } = guardOf({ allowedPaths: ["."] })
  expect(look("write", "src/a.ts").findings).toEqual([])
  expect(look("write", ".git/config")).toMatchObject({ findings: [{ verdict: "deny" }] })
  expect(look("write", ".env")).toMatchObject({ findings: [{ verdict: "ask" }] })
})

test("a line for a folder in the workspace does not follow a link that an agent could have made", () => {
  const { look } = guardOf({ allowedPaths: ["newdir/link2"] })
  expect(look("read", join(outside, "x")).findings).toHaveLength(1)
  expect(look("read", "newdir/link2/x").findings).toHaveLength(1)
})

test("a glob of tools.allowedPaths allows exactly what it matches", () => {
  const dir = temporaryFolder()
  mkdirSync(join(dir, "a [1]/public"), { recursive: true })
  const { look } = guardOf({ allowedPaths: [join(dir, "a \\[1\\]/*/**")] })
  expect(look("read", join(dir, "a [1]/public/x.txt")).findings).toEqual([])
  expect(look("read", join(dir, "a [1]")).findings).toHaveLength(1)
  expect(look("read", join(dir, "a 1/public/x")).findings).toHaveLength(1)
})

test("a line may begin with ~/ for the home folder", () => {
  const home = temporaryFolder()
  const { look } = guardOf({ home, allowedPaths: ["~/notes"] })
  expect(look("write", join(home, "notes/x")).findings).toEqual([])
  expect(look("write", "~/notes/x").findings).toHaveLength(1)
})

test("allowedPaths of a call narrow, and never widen", () => {
  const { look } = guardOf()
  expect(look("read", "src/a.ts", ["src"]).findings).toEqual([])
  expect(look("read", "link-in/a.ts", ["src"]).findings).toEqual([])
  for (const [path, allowed] of [
    ["docs/x", ["src"]],
    ["src/a.ts", []],
    [join(outside, "x"), [outside]],
    ["src/a.ts", ["link-in"]],
  ] as const)
    // prettier-ignore
    expect(look("read", path, [...allowed]).findings[0]?.reason.sentence, path).toContain("Access denied")
})

test("allowedPaths of a call and of the configuration both hold", () => {
  const { look } = guardOf({ allowedPaths: ["docs", "src"] })
  for (const [path, allowed] of [
    ["docs/x", ["."]],
    ["src/a.ts", ["src/a.ts", "secrets"]],
    ["docs/x", ["docs/**"]],
  ] as const)
    // prettier-ignore
    expect(look("read", path, [...allowed]).findings, path).toEqual([])
  for (const [path, allowed] of [
    ["secrets/db.txt", ["."]],
    ["docs/x", ["src"]],
    [".", ["."]],
    ["to-secrets/db.txt", ["secrets"]],
  ] as const)
    // prettier-ignore
    expect(look("read", path, [...allowed]).findings, path).toMatchObject([{ code: "path_outside_workspace" }])
})

test("protectedPaths are read but not written, with everything in them, and folders above are not moved", () => {
  const protectedPaths = ["docs/final/", "*.lock", "conf/prod.yml", "/ws-not/x", "legal/**"].map((pattern, at) => ({
    pattern,
    source: `tools.protectedPaths[${at}]`,
  }))
  const { look } = guardOf({ protectedPaths })
  const refused: [string, number][] = [
    ["docs/final", 0],
    ["docs/final/a/b.md", 0],
    ["docs/FINAL/a", 0],
    ["docs", 0],
    ["yarn.lock", 1],
    ["deep/er/yarn.lock", 1],
    ["conf/prod.yml", 2],
    ["conf", 2],
    ["legal/x", 4],
    ["legal", 4],
  ]
  for (const [path, line] of refused)
    expect(look("write", path).findings[0], path).toMatchObject({
      verdict: "deny",
      code: "permission_denied",
      reason: { source: `tools.protectedPaths[${line}]` },
    })
  for (const path of ["docs/finally.md", "docs/x", "conf/dev.yml", "src/a.ts"])
    expect(look("write", path).findings, path).toEqual([])
  for (const [path] of refused) expect(look("read", path).findings, path).toEqual([])
})

test("a read-only path is read but not written, and folders above it are not moved", () => {
  const guard = pathGuard(createPathPolicy({ workspace, readOnlyPaths: [join(workspace, "tools/plugins/mine.js")] }))
  const says = (kind: Touch["kind"], what: string) =>
    guard.check([{ kind, what }], {}).findings.map((one) => one.verdict)
  expect(says("read", "tools/plugins/mine.js")).toEqual([])
  for (const path of ["tools/plugins/mine.js", "tools/plugins/MINE.js", "tools/plugins", "tools"])
    expect(says("write", path), path).toEqual(["deny"])
  expect(says("write", "tools/other.js")).toEqual([])
})

test("commands and hosts are ignored", () => {
  const { guard } = guardOf()
  const touches: Touch[] = [{ kind: "command", what: "cat /etc/passwd" }, { kind: "host", what: "example.com" }] // prettier-ignore
  expect(guard.check(touches, {})).toEqual({ extraTouches: [], proved: true, findings: [] })
})
