import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { parse } from "yaml"
import { checkConfig, mergedConfigFlaws } from "./check-configuration.ts"
import { configurationPage, configurationSections } from "./testing/configuration-page.ts"

const page = new URL("../../docs/CONFIGURATION.md", import.meta.url).pathname
const keys = configurationSections().flatMap((section) => section.keys)

test("docs/CONFIGURATION.md is what the schema says today; npm run docs:configuration writes it", async () => {
  const [introduction = ""] = readFileSync(page, "utf8").split("## The keys of a file")
  await expect(configurationPage(introduction)).toMatchFileSnapshot(page)
})

test("every key of the configuration has a sentence and an example that the schema accepts", () => {
  expect(keys.length).toBeGreaterThan(100)
  expect(keys.filter(({ sentence }) => !/^\S.*[.]$/.test(sentence)).map(({ path }) => path)).toEqual([])
  expect(keys.filter(({ example }) => example === undefined).map(({ path }) => path)).toEqual([])
  const refused = keys.filter(({ schema, example }) => !schema.safeParse(example).success)
  expect(refused.map(({ path }) => path)).toEqual([])
})

test("every example on the page is a configuration that can be used", () => {
  const blocks = [...readFileSync(page, "utf8").matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => text)
  expect(blocks.length).toBeGreaterThan(10)
  for (const text of blocks) {
    const { config, flaws } = checkConfig(parse(text))
    expect([...flaws, ...mergedConfigFlaws(config)], text).toEqual([])
  }
})
