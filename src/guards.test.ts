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

/** The house that the cases are judged in: its configuration is that of their README. */
async function house() {
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
        allowedPaths: ["."],
      },
      rules: [{ deny: "*", touching: "file:secrets/**", because: "Secrets stay where they are." }],
    },
    { workspace },
  )
  const placed = (input: string) => (input.startsWith("/ws/") ? workspace + input.slice(3) : input)
  const why = ({ kind, input, op }: Case) => {
    if (kind === "command") return system.why({ agentId: "operator", tool: "run_command", input: { command: input } })
    if (kind === "url") return system.why({ agentId: "operator", tool: "web_fetch", input: { url: input } })
    const path = placed(input)
    return op === "write"
      ? system.why({ agentId: "operator", tool: "write_file", input: { path, content: "x" } })
      : system.why({ agentId: "operator", tool: "read_file", input: { path } })
  }
  return why
}

const strictness = ["allow", "ask", "deny"]

test("no case comes out looser than it must, and what is harmless is allowed", async () => {
  const why = await house()
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
  ["grep -rn TODO .", "deny", "a rule denies what is in there"],
  ["cat secrets/s", "deny", "a rule denies it"],
  ["cat packages/api/.env", "ask", "it has the environment"],
])("the command '%s' comes out %s: %s", async (input, verdict, why) => {
  const judge = await house()
  expect(await judge({ kind: "command", input, expect: "ask", why })).toMatchObject({ verdict })
})
