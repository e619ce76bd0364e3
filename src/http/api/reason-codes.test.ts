import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { reasonOf } from "../../policy/rule-reason.ts"
import { checks } from "../../policy/checks/list.ts"
import { rule } from "../../policy/testing.ts"
import { chinese, translate } from "./translate.ts"

/** The codes of reasons that guards give, as their sources write them. */
function guardCodes(): string[] {
  const folder = "src/guards"
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /^(?!.*test).*\.ts$/.test(name),
  )
  const written = /(?:Finding|reasonOf)\(\s*[^,()]+,\s*"(\w+)"|code: "([a-z]+_\w+)"|reason: "(\w+)"/g
  const found = files.flatMap((name) =>
    [...readFileSync(join(folder, name), "utf8").matchAll(written)].map(([, one, two, three]) => one ?? two ?? three),
  )
  // The kind of a path's refusal, which no reason carries.
  return found.filter((code): code is string => code !== undefined && code !== "bad_path")
}

const codes = new Set([
  ...checks.flatMap(({ sentences }) => Object.keys(sentences)),
  ...(["deny", "ask", "allow"] as const).map((verdict) => reasonOf(rule(verdict, "*")).code),
  reasonOf(rule("ask", "*", { release: "always" })).code,
  ...guardCodes(),
])

describe("the reasons of the core", () => {
  test("are found in its sources", () => {
    for (const code of ["tool_sensitive", "rule_denies", "command_unproved", "path_protected", "host_private"])
      expect(codes).toContain(code)
  })

  test.each([...codes])("%s is said in Chinese too", (code) => expect(chinese[code]).toMatch(/\p{Script=Han}/u))

  test("keep the server's because, and leave out what it did not say", () => {
    const text = "It is not certain what this command runs, because 'node' runs code. It contains 'rm'."
    expect(translate({ code: "command_unproved", params: {}, text }, "zh")).toBe(
      "无法确定此命令会运行什么：'node' runs code。",
    )
    const confirmed = { code: "path_confirmed", params: { path: ".env", use: "read" }, text: "A person confirms it." }
    expect(translate(confirmed, "zh")).toBe("使用 .env 每次都须由人确认。")
  })
})
