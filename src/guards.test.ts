import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { open, temporaryFolder } from "./testing/open.ts"

interface Case {
  kind: "command" | "path" | "url"
  input: string
  expect: "allow" | "ask" | "deny"
  why: string
  op?: "read" | "write"
  when?: "run"
}

const files = ["commands", "paths", "urls"].map((name) => `${name}.jsonl`)
const cases = files.flatMap((file) =>
  readFileSync(join(import.meta.dirname, "policy/testing/cases", file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Case),
)

/** What the house says to a case. */
async function judge() {
  const { system, workspace } = await house()
  const placed = (input: string) => (input.startsWith("/ws/") ? workspace + input.slice(3) : input)
  return ({ kind, input, op }: Case) => {
    if (kind === "command") return system.why({ agentId: "operator", tool: "run_command", input: { command: input } })
    if (kind === "url") return system.why({ agentId: "operator", tool: "web_fetch", input: { url: input } })
    const path = placed(input)
    return op === "write"
      ? system.why({ agentId: "operator", tool: "write_file", input: { path, content: "x" } })
      : system.why({ agentId: "operator", tool: "read_file", input: { path } })
  }
}

/** The house that the cases are judged in: its configuration is that of their README. */
async function house(allowedPaths: string[] = ["."]) {
  const above = temporaryFolder()
  const workspace = join(above, "ws")
  for (const folder of ["src", "newdir", "secrets", "packages/api", "..foo"])
    mkdirSync(join(workspace, folder), { recursive: true })
  for (const file of ["src/a.ts", "..foo/bar.txt", "secrets/s", "f", "packages/api/.env"])
    writeFileSync(join(workspace, file), "x\n")
  mkdirSync(join(above, "ws-evil"))
  writeFileSync(join(above, "ws-evil/x"), "evil")
  symlinkSync(join(above, "not-there-yet"), join(workspace, "dangling.txt"))
  symlinkSync(above, join(workspace, "newdir/link2"))
  symlinkSync("../../..", join(workspace, "src/up"))
  const system = await open(
    {
      tools: {
        shell: {
          mode: "ask",
          allow: [
            ..."ls cat echo pwd head tail wc grep true cd printf test find sort sed rg file man tar awk".split(" "),
            ..."status log diff show".split(" ").map((word) => `git ${word}`),
            "npm test",
          ],
          deny: "rm curl wget sudo dd mkfs dig docker".split(" "),
        },
        hosts: { allow: ["docs.example.com", "*.trusted.example", "github.com"] },
        allowedPaths,
      },
      rules: [{ deny: "*", touching: "file:secrets/**", because: "Secrets stay where they are." }],
    },
    { workspace },
  )
  return { system, workspace }
}

const strictness = ["allow", "ask", "deny"]

test("no case comes out looser than it must, and what is harmless is allowed", async () => {
  const why = await judge()
  const wrong: string[] = []
  for (const each of cases) {
    // What a name leads to is found out when it is connected to.
    if (each.when === "run") continue
    const { verdict, reasons } = await why(each)
    const isRight =
      each.expect === "allow" ? verdict === "allow" : strictness.indexOf(verdict) >= strictness.indexOf(each.expect)
    if (!isRight)
      wrong.push(
        `${each.kind} ${JSON.stringify(each.input).slice(0, 90)} is ${verdict}, must be ${each.expect}: ${reasons[0]?.sentence ?? ""}`,
      )
  }
  expect(wrong).toEqual([])
})

test.each([
  ["grep -rn TODO src", "allow", "links on the way are not followed, wherever they lead"],
  ["rg TODO packages", "allow", "hidden files are not read"],
  ["grep -rn TODO packages", "ask", "the environment is in there, two folders down"],
  ["rg --hidden TODO packages", "ask", "the environment is in there, two folders down"],
  ["rg TODO -g .env packages", "ask", "a glob brings hidden files back"],
  ["grep -rn TODO .", "deny", "a rule denies what is in there"],
  ["cat secrets/s", "deny", "a rule denies it"],
  ["cat packages/api/.env", "ask", "it has the environment"],
])("the command '%s' comes out %s: %s", async (input, verdict, because) => {
  const why = await judge()
  expect(await why({ kind: "command", input, expect: "ask", why: because })).toMatchObject({ verdict })
})

test("what a rule keeps from an agent is not come across on a way through folders either", async () => {
  const { system, workspace } = await house()
  writeFileSync(join(workspace, "secrets/code.ts"), "export function hidden() {}\n")
  writeFileSync(join(workspace, "secrets/s"), "the secret word\n")
  const call = async (tool: string, input: unknown) =>
    JSON.stringify((await system.call({ agentId: "operator", tool, input })).result ?? null)
  expect(await call("search_files", { pattern: "secret word" })).toContain('"total":0')
  expect(await call("search_files", { pattern: "secret word", output: "files", hidden: true })).toContain('"total":0')
  expect(await call("find_files", { pattern: "**/*" })).not.toContain("secrets/")
  expect(await call("list_files", { recursive: true })).not.toContain("secrets/s")
  expect(await call("code_query", { query: "hidden" })).toContain('"total":0')
  for (const [tool, input] of [
    ["search_files", { pattern: "x", path: "secrets" }],
    ["list_files", { path: "secrets" }],
    ["code_query", { query: "hidden", path: "secrets" }],
  ] as const) {
    expect(await system.call({ agentId: "operator", tool, input })).toMatchObject({ code: "permission_denied" })
  }
})

test("whoever moves or deletes a folder does so to all that is in it", async () => {
  const { system, workspace } = await house()
  mkdirSync(join(workspace, "app/.git"), { recursive: true })
  mkdirSync(join(workspace, "lib/inner"), { recursive: true })
  writeFileSync(join(workspace, "lib/inner/package.json"), "{}")
  const verdict = async (tool: string, input: unknown) =>
    (await system.why({ agentId: "operator", tool, input })).verdict
  expect(await verdict("move_file", { from: "secrets", to: "open" })).toBe("deny")
  expect(await verdict("delete_file", { path: "app", recursive: true })).toBe("deny")
  expect(await verdict("move_file", { from: "lib", to: "library" })).toBe("ask")
  expect(await verdict("move_file", { from: "..foo", to: "foo" })).toBe("allow")
})

test("a redirect makes a writer of what only prints, so it needs the line that write_file needs", async () => {
  const verdict = async (allowedPaths: string[], command: string) => {
    const { system } = await house(allowedPaths)
    return (await system.why({ agentId: "operator", tool: "run_command", input: { command } })).verdict
  }
  expect(await verdict([], "echo x > src/new.ts")).toBe("ask")
  expect(await verdict(["src"], "echo x > src/new.ts")).toBe("allow")
  expect(await verdict(["src"], "echo x > new.ts")).toBe("ask")
  expect(await verdict([], "echo x > /dev/null")).toBe("allow")
})

test("the folder of a command counts for rules", async () => {
  const { system } = await house()
  const input = { command: "ls", cwd: "secrets" }
  expect(await system.why({ agentId: "operator", tool: "run_command", input })).toMatchObject({ verdict: "deny" })
})
