import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { parse } from "yaml"
import { checkConfig, mergedConfigFlaws } from "../../config/check-configuration.ts"
import { modelOf } from "../testing/use-models.ts"
import { runTurn } from "./run-turn.ts"

const page = readFileSync(join(import.meta.dirname, "../../../docs/AGENTS.md"), "utf8")
const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => text)

test("the configuration and the script of docs/AGENTS.md are accepted", async () => {
  const script = blocks.find((block) => block.startsWith("- say")) ?? ""
  const configurations = blocks.filter((block) => block.startsWith("models:"))
  expect(configurations.length).toBeGreaterThan(0)
  for (const configuration of configurations) {
    const { config, flaws } = checkConfig(parse(configuration))
    expect([...flaws, ...mergedConfigFlaws(config)]).toEqual([])
  }
  const folder = mkdtempSync(join(tmpdir(), "qm-docs-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "demo.yml"), script)
  const model = modelOf({ provider: "scripted", script: join(folder, "demo.yml") })
  expect((await runTurn(model, { messages: [] })).calls).toMatchObject([{ name: "read_file" }])
})

test("every code of a model's error is in docs/AGENTS.md", () => {
  const source = readFileSync(join(import.meta.dirname, "model-error.ts"), "utf8")
  const codes = [...source.matchAll(/^ {2}\| "(\w+)"/gm)].map(([, code = ""]) => code)
  expect(codes.length).toBeGreaterThan(10)
  expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([])
})
