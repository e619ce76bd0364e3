import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { reasonOf } from "../policy/rules/rule-reason.ts"
import { checks } from "../policy/checks/list.ts"
import { rule } from "../policy/testing.ts"
import { chinese, translate, translateNote } from "./translate.ts"

/** Returns the matches of a pattern in the sources of a folder: the first group that matched. */
function written(folder: string, pattern: RegExp): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /^(?!.*test).*\.ts$/.test(name),
  )
  return files.flatMap((name) =>
    [...readFileSync(join(folder, name), "utf8").matchAll(pattern)].flatMap(([, ...groups]) =>
      groups.flatMap((group) => group ?? []),
    ),
  )
}

/** The codes of reasons that guards give. `bad_path` is the kind of a path's refusal, which no reason carries. */
const guardCodes = written(
  "src/guards",
  /(?:Finding|reasonOf)\(\s*[^,()]+,\s*"(\w+)"|code: "([a-z]+_\w+)"|reason: "(\w+)"/g,
).filter((code) => code !== "bad_path")

/** Of the lifecycle: reasons have a check, a source and a code; parts of the note that it is asked again, a code first. */
const callCodes = [
  ...written("src/call", /check: "\w+",[^{}]*?code: "(\w+)"/g),
  ...written("src/call", /part\("(\w+)"/g),
  ...written("src/approvals", /"(answer_\w+)"/g),
  ...written("src/app", /code: "(again_\w+)"/g),
]
const detailCodes = written("src/tools/command", /line\("(\w+)"/g)

const codes = new Set([
  ...checks.flatMap(({ sentences }) => Object.keys(sentences)),
  ...(["deny", "ask", "allow"] as const).map((verdict) => reasonOf(rule(verdict, "*")).code),
  reasonOf(rule("ask", "*", { release: "always" })).code,
  ...guardCodes,
  ...callCodes,
  ...detailCodes,
])

describe("the reasons of the core", () => {
  test("are found in its sources", () => {
    for (const code of ["tool_sensitive", "rule_denies", "command_unproved", "path_protected", "host_private"])
      expect(codes).toContain(code)
    for (const code of ["result_held", "call_changed", "question", "input_edited", "again_files", "again_restored"])
      expect(codes).toContain(code)
    expect(codes).toContain("detail_no_sandbox")
  })

  test("of a check are said in both languages", () => {
    for (const { name, sentences, passes } of checks)
      for (const { zh } of [...Object.values(sentences), ...(passes === undefined ? [] : [passes])])
        expect(zh, name).toMatch(/\p{Script=Han}/u)
  })

  test.each([...codes])("%s is said in Chinese too", (code) => expect(chinese[code]).toMatch(/\p{Script=Han}/u))

  test("a problem of every endpoint that the console uses is said in Chinese too", () => {
    const problems = written("src/interfaces/http", /HttpProblem\((?:[^{}]|\$\{[^{}]*\})*?\{\s*code: "(\w+)"/g)
    // Codes that only programs meet: a header, a body or a token that the console always sends right.
    const forPrograms = [
      "missing_header",
      "wrong_method",
      "body_encoded",
      "not_json",
      "invalid_json",
      "agents_only_call",
      "other_agent",
      "use_the_tool",
      "not_local",
    ]
    const elsewhere = ["no_model"]
    const people = new Set(problems.filter((code) => ![...forPrograms, ...elsewhere].includes(code)))
    expect(people.size).toBeGreaterThan(10)
    for (const code of people) expect(chinese[`problem_${code}`], code).toMatch(/\p{Script=Han}/u)
  })

  test("say why a call is asked about again in its parts, and an older note as it is", () => {
    const again: Parameters<typeof translateNote>[0]["again"] = [
      { code: "again_approved", params: { by: "sue", revision: 1 }, text: "sue approved revision 1. Since then" },
      { code: "again_files", params: { files: ["a.md"] }, text: "a.md has changed" },
      { code: "again_input", text: "its input has changed" },
    ]
    const note = "sue approved revision 1. Since then a.md has changed, and its input has changed."
    expect(translateNote({ note, again }, "zh")).toBe("sue 已批准第 1 版。此后：a.md 已改变，输入已改变。")
    expect(translateNote({ note, again }, "en")).toBe(note)
    expect(translateNote({ note }, "zh")).toBe(note)
  })

  test("keep the server's because, and leave out what it did not say", () => {
    const text = "It is not certain what this command runs, because 'node' runs code. It contains 'rm'."
    expect(translate({ code: "command_unproved", params: {}, text }, "zh")).toBe(
      "无法确定此命令会运行什么：'node' runs code。",
    )
    const confirmed = { code: "path_confirmed", params: { path: ".env", use: "read" }, text: "A person confirms it." }
    expect(translate(confirmed, "zh")).toBe("使用 .env 每次都须由人确认。")
  })
})
