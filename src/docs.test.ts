import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { parse } from "yaml"
import { z } from "zod"
import { checkConfig } from "./config/check-configuration.ts"
import { readRule, ruleSchema } from "./schema/rule-schema.ts"
import { openTestApp, tool } from "./testing/test-app.ts"

const page = readFileSync(new URL("../docs/RULES.md", import.meta.url), "utf8")
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => parse(text) as unknown[])

const root = join(import.meta.dirname, "..")
const pages = [
  "README.md",
  "README.zh-CN.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs"), { recursive: true }).map((name) => `docs/${String(name)}`),
]
  .filter((name) => name.endsWith(".md"))
  .map((name) => ({ name, text: readFileSync(join(root, name), "utf8") }))

test("every configuration in the documentation is one that the schema accepts", () => {
  const found = pages.flatMap(({ name, text }) =>
    [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, yaml = ""]) => ({ name, value: parse(yaml) as unknown })),
  )
  const configs = found.filter(({ value }) => !Array.isArray(value) && !isPipeline(value))
  expect(configs.length).toBeGreaterThan(5)
  for (const { name, value } of configs) expect(checkConfig(value).flaws, name).toEqual([])
})

const isPipeline = (value: unknown) => typeof value === "object" && value !== null && "steps" in value

test("every pipeline in the documentation is one that would run", async () => {
  const app = await openTestApp({ modules: ["chrome"] }, { workspace: root })
  const yaml = pages.flatMap(({ text }) => [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = ""]) => block))
  const found = yaml.filter((block) => isPipeline(parse(block)))
  expect(found.length).toBeGreaterThan(0)
  for (const block of found)
    expect((await app.pipeline({ yaml: block }, { agentId: "operator" }).check()).problems).toEqual([])
})

test("every promise in docs/SECURITY.md names a test that exists", () => {
  const security = pages.find(({ name }) => name === "docs/SECURITY.md")!.text
  const promised = security.slice(security.indexOf("## What is promised"), security.indexOf("## What is not promised"))
  const promises = promised.split(/^\d+\. /m).slice(1)
  expect(promises.length).toBeGreaterThan(15)
  for (const promise of promises) {
    const proofs = [...promise.matchAll(/^ +- `(.+?)`: (.+)$/gm)]
    expect(proofs.length, promise).toBeGreaterThan(0)
    for (const [, file = "", title = ""] of proofs) expect(readFileSync(join(root, file), "utf8")).toContain(title)
  }
})

test("no paragraph of the documentation is longer than 600 characters", () => {
  const long = pages
    .filter(({ name }) => name !== "docs/contributing/requirements.md")
    .flatMap(({ name, text }) => text.split("\n").map((line, index) => ({ place: `${name}:${index + 1}`, line })))
    .filter(({ line }) => !line.startsWith("|") && line.length > 600)
  expect(long.map(({ place }) => place)).toEqual([])
})

test("the contents of the library's page name every part of it", () => {
  const { text } = pages.find(({ name }) => name === "docs/API.md")!
  const parts = [...text.replace(/^```.*?^```$/gms, "").matchAll(/^## (.+)$/gm)].map(([, part]) => part)
  const contents = [...text.slice(0, text.indexOf("## ")).matchAll(/^- \[(.+)\]\(#/gm)].map(([, part]) => part)
  expect(contents).toEqual(parts)
})

test("every link in the documentation leads to a file and a heading that exist", () => {
  const broken = pages.flatMap(({ name, text }) =>
    [...text.replace(/```.*?```/gs, "").matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, target = "", anchor]) => !linkHolds(target === "" ? name : join(dirname(name), target), anchor))
      .map(([link]) => `${name}: ${link}`),
  )
  expect(broken).toEqual([])
})

test("the index of decisions has every decision once", () => {
  const index = pages.find(({ name }) => name === "docs/decisions/README.md")!.text
  const listed = [...index.matchAll(/^\|[^|]*\| \[\d+\]\(([^)]+)\)/gm)].map(([, file]) => file)
  const files = readdirSync(join(root, "docs/decisions")).filter((name) => /^\d/.test(name))
  expect(listed.toSorted()).toEqual(files.toSorted())
})

function linkHolds(file: string, anchor: string | undefined): boolean {
  if (!existsSync(join(root, file))) return false
  if (anchor === undefined) return true
  const headings = readFileSync(join(root, file), "utf8").match(/^#+ .*$/gm) ?? []
  const slugs = headings.map((heading) =>
    heading
      .replace(/^#+ /, "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  )
  return slugs.includes(anchor)
}

test("the README has at most 200 lines, the two commands, and its parts in this order", () => {
  const readme = pages.find(({ name }) => name === "README.md")!.text
  expect(readme.split("\n").length).toBeLessThanOrEqual(200)
  for (const command of ["npm ci && npm start", "npm ci && npm test"]) expect(readme).toContain(command)
  const parts = [
    "Permissions, human approval and an audit log for LLM agents' tool calls",
    "docs/inbox.light.png",
    "## Why",
    "docs/session.svg",
    "## Quick start",
    "## Which way in is yours",
    "### In front of Claude or Cursor",
    "### In a TypeScript program",
    "### For a team",
    "### For who is responsible",
    "## The seven steps",
    "## Security and its limits",
    "## Compared",
    "docs/BENCHMARKS.md",
    "## Features",
    "## A configuration",
    "## Status",
    "## Documentation",
  ]
  const places = parts.map((part) => readme.indexOf(part))
  expect(places.filter((place) => place < 0)).toEqual([])
  expect(places).toEqual(places.toSorted((a, b) => a - b))
})

test("the Chinese README has the headings, tables, lists, code and links of the English one", () => {
  const [english, chinese] = ["README.md", "README.zh-CN.md"].map((name) => {
    const { text } = pages.find((page) => page.name === name)!
    const prose = text.replace(/^```.*?^```$/gms, "")
    return {
      headings: prose.match(/^#+ /gm),
      listsAndTables: prose.match(/^(?:- |\|).*$/gm)?.map((line) => line.split("|").length),
      // The text of comments is translated.
      code: text.match(/^```.*?^```$/gms)?.map((block) => block.replaceAll(/ +(#|\/\/) .*$/gm, "")),
      links: [...prose.matchAll(/\]\(([^)]+)\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !target.startsWith("README"))
        .sort(),
      names: [...new Set(prose.match(/`[^`]+`/g))].sort(),
    }
  })
  expect(chinese).toEqual(english)
  expect(pages.find(({ name }) => name === "README.md")!.text).toContain("[中文](README.zh-CN.md)")
  expect(pages.find(({ name }) => name === "README.zh-CN.md")!.text).toContain("[English](README.md)")
})

test("the configuration in the README has 15 lines, and its rules have no flaws", async () => {
  const readme = pages.find(({ name }) => name === "README.md")!.text
  const [, yaml = ""] = /^```yaml\n(.*?)^```$/ms.exec(readme)!
  expect(yaml.trim().split("\n")).toHaveLength(15)
  const { mcpServers: _, ...config } = parse(yaml) as Record<string, unknown>
  const system = await openTestApp(config)
  system.registry.register(tool({ name: "create_ticket", group: "tickets", execute: () => 1 }))
  expect(system.rules.flaws()).toEqual([])
})

test("the picture of the README loads nothing from elsewhere", () => {
  const picture = readFileSync(join(root, "docs/session.svg"), "utf8")
  expect(picture.replace('xmlns="http://www.w3.org/2000/svg"', "")).not.toMatch(/https?:|href|<script|@import|<style/)
  for (const word of ["NOT EXECUTED", "approvals approve", "audit verify", "ok:"]) expect(picture).toContain(word)
})

test("every public name is imported by an example of docs/API.md", () => {
  const source = readFileSync(join(root, "src/index.ts"), "utf8")
  const api = pages.find(({ name }) => name === "docs/API.md")!.text
  const blocks = [...api.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, text = ""]) => text)
  const publicNames = namesIn(source, /^export (?:type )?\{([^}]*)\}/gm)
  expect(publicNames.length).toBeGreaterThan(90)
  const shown = new Set(
    blocks.flatMap((block) => namesIn(block, /^import (?:type )?\{([^}]*)\} from "quartermaster"/gm)),
  )
  expect(publicNames.filter((name) => !shown.has(name))).toEqual([])
})

const config = {
  org: {
    roles: [{ name: "developer", department: "eng" }, { name: "lead" }],
    agents: [{ id: "dev", role: "developer" }],
    departments: [{ id: "eng" }, { id: "qa" }],
  },
}

test("every rule in the documentation can be read, is not dead, and its examples hold", async () => {
  expect(blocks.length).toBeGreaterThan(1)
  for (const rules of blocks) {
    for (const rule of rules) expect(readRule(rule, "id", "docs/RULES.md")).toHaveProperty("rule")
    const system = await openTestApp({ ...config, rules: rules as never })
    const path = z.object({ path: z.string() }) as never
    const host = z.object({ host: z.string() }) as never
    system.registry.registerMany([
      tool({ name: "write_note", effect: "write", input: path, touches: touching("write", "path"), execute: () => 1 }),
      tool({ name: "fetch_page", effect: "network", input: host, touches: touching("host", "host"), execute: () => 1 }),
    ])
    expect(system.rules.flaws()).toEqual([])
  }
})

test("the documentation names every field of a rule, and no other", () => {
  const table = page.slice(page.indexOf("## The fields"), page.indexOf("Patterns:"))
  const named = [...table.matchAll(/^\| (`.*?) +\|/gm)].flatMap(([, cell = ""]) => cell.match(/\w+/g) ?? [])
  expect(named.sort()).toEqual(Object.keys(ruleSchema.shape).sort())
})

function touching(kind: "write" | "host", parameter: string) {
  return (input: unknown) => [{ kind, what: (input as Record<string, string>)[parameter] ?? "" }]
}

/** The names inside the braces of every `export { … }` or `import { … }` of a text. */
function namesIn(text: string, statement: RegExp): string[] {
  return [...text.matchAll(statement)].flatMap(([, names = ""]) =>
    names.split(",").flatMap((name) => /(?:type )?(?:\w+ as )?(\w+)\s*$/.exec(name.trim())?.[1] ?? []),
  )
}
