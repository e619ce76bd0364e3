import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { en } from "./en.ts"
import { translate } from "../../../src/messages/translate.ts"
import { endedText, parameterText, problemText } from "./problem-text.ts"
import { agoText, bytesText, clockText, clockTime, leftText, spanText, tookText } from "./time-text.ts"
import { zh } from "./zh.ts"

describe("times and sizes", () => {
  test.each([
    [252_000, "4:12"],
    [9_000, "0:09"],
    [3_725_000, "1:02:05"],
    [-5, "0:00"],
    [400, "0:01"],
  ])("%d ms left is %s", (milliseconds, text) => expect(clockText(milliseconds)).toBe(text))

  test("what may be answered for days is said in days", () => {
    expect([leftText(252_000, en), leftText(604_799_000, en)]).toEqual(["4:12", "6 days"])
  })

  test.each([
    [48_000, "48 s", "48 秒"],
    [185_000, "3 min", "3 分钟"],
    [11_520_000, "3 h 12 min", "3 小时 12 分钟"],
    [172_800_000, "2 days", "2 天"],
  ])("%d ms is %s or %s", (milliseconds, english, chinese) => {
    expect(spanText(milliseconds, en)).toBe(english)
    expect(spanText(milliseconds, zh)).toBe(chinese)
  })

  test.each([
    [0, "<1 ms"],
    [7.25, "7.3 ms"],
    [212.4, "212 ms"],
    [1_440, "1.4 s"],
    [185_000, "3 min"],
  ])("a call of %d ms took %s", (milliseconds, text) => expect(tookText(milliseconds, en)).toBe(text))

  test("the time of day has two digits each", () => {
    expect(clockTime(new Date(2026, 10, 17, 9, 5, 7, 16).getTime(), true)).toBe("09:05:07.016")
  })

  test("under a minute ago is just now", () => {
    expect(agoText(59_000, en)).toBe("just now")
    expect(agoText(61_000, en)).toBe("1 min ago")
  })

  test.each([
    [812, "812 B"],
    [1_800_000, "1.8 MB"],
    [212_000, "212 KB"],
    [999_900, "1 MB"],
  ])("%d bytes are %s", (bytes, text) => expect(bytesText(bytes)).toBe(text))
})

describe("messages of the server", () => {
  const unknown = { code: "nobody_translated_this", text: "As it is." }

  test("are said in English as the server wrote them", () => expect(translate(unknown, "en")).toBe("As it is."))

  test("are said in Chinese by their code, with the server's values", () => {
    const message = { code: "part_deletes", params: { files: ["a.txt", "b.txt"] }, text: "Deletes a.txt, b.txt." }
    expect(translate(message, "zh")).toBe("删除 a.txt、b.txt。")
    expect(translate(message, "en")).toBe("Deletes a.txt, b.txt.")
  })

  test("are said in English where a value is missing, never with a hole", () => {
    expect(translate({ code: "title_delete", text: "Delete a.txt" }, "zh")).toBe("Delete a.txt")
  })

  test("are said in English where a translation is missing", () => expect(translate(unknown, "zh")).toBe("As it is."))
})

describe("what went wrong", () => {
  const problem = { type: "about:blank", title: "Error", status: 422, detail: "There is no tool 'x'." }

  test("is said by its code, with words for what was looked for", () => {
    const missing = { ...problem, code: "not_found", params: { what: "tool", id: "x" } }
    expect(problemText(missing, "zh")).toBe("没有工具“x”这一项。")
    expect(problemText(missing, "en")).toBe("There is no tool 'x'.")
  })

  test("takes a name from the sentence where the server sends no value", () => {
    const taken = { ...problem, code: "person_exists", detail: "The id 'li' belongs to a person or an agent." }
    expect(problemText(taken, "zh")).toBe("短名“li”已属于某个人或智能体。请另选一个。")
  })

  test("is said in English where a code has no translation", () => {
    expect(problemText({ ...problem, code: "brand_new" }, "zh")).toBe(problem.detail)
    expect(problemText(problem, "zh")).toBe(problem.detail)
  })

  test("a call's ending is said by its code, and a tool's own words stay", () => {
    expect(endedText({ code: "timeout", error: "It took too long." }, "zh")).toBe("工具没有在时限内结束，已被中止。")
    expect(endedText({ code: "tool_failed", error: "No such file." }, "zh")).toBe("No such file.")
  })

  test.each([
    ["Missing required parameter: path", "缺少必填参数：path"],
    ["Parameter 'a.b[0]' expected string, got number", "参数“a.b[0]”应为 string，实际是 number"],
    ["Parameter 'mode' must be one of: a, b", "参数“mode”只能是其中之一：a, b"],
    ["Unknown parameter 'pth'. Did you mean 'path'?", "没有参数“pth”。是不是“path”？"],
    ["Unknown parameter 'x'. It takes none.", "没有参数“x”。"],
    ["Something else.", "Something else."],
  ])("%s is %s", (sentence, text) => {
    expect(parameterText(sentence, "zh")).toBe(text)
    expect(parameterText(sentence, "en")).toBe(sentence)
  })
})

test("a rule's own words follow its translation", () => {
  const message = { code: "rule_denies", params: { rule: "1a" }, text: "A rule denies it: Secrets: never." }
  expect(translate(message, "zh")).toBe("有规则拒绝：Secrets: never.")
})

test("the words have no empty sentence", () => {
  const empty: string[] = []
  const look = (at: object, path: string) => {
    for (const [key, value] of Object.entries(at)) {
      if (value === "") empty.push(`${path}${key}`)
      else if (typeof value === "object" && value !== null) look(value, `${path}${key}.`)
    }
  }
  look(en, "")
  look(zh, "")
  expect(empty).toEqual([])
})

test("every word is used somewhere", () => {
  const folder = join(import.meta.dirname, "..")
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
  const sources = files.filter((file) => /(?<!\.test)\.tsx?$/.test(file) && !/^words.(en|zh)/.test(file))
  const code = sources
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n")
    .replaceAll(/\s+\./g, ".")
  const named = new Set(Array.from(code.matchAll(/\b(\w+)\??\.(?=(\w+))/g), ([, one, other]) => `${one}.${other}`))
  // All words of a part are used where it is indexed, or handed on as a whole.
  const indexed = new Set(Array.from(code.matchAll(/\b(\w+)\[/g), ([, part]) => part))
  const handedOn = new Set(Array.from(code.matchAll(/\.(\w+)\b(?!\.)/g), ([, part]) => part))
  const unused: string[] = []
  const look = (at: object, [parent = "", ...above]: readonly string[]) => {
    for (const [key, value] of Object.entries(at)) {
      if (typeof value === "object" && value !== null && !Array.isArray(value)) look(value, [key, parent, ...above])
      else if (parent !== "") {
        const isNamed = named.has(`${parent}.${key}`) || named.has(`words.${key}`)
        const isIndexed = indexed.has(parent) || (above.length > 1 && handedOn.has(parent))
        if (!isNamed && !isIndexed) unused.push([...above.toReversed().slice(1), parent, key].join("."))
      }
    }
  }
  look(en, [])
  expect(unused).toEqual([])
})
