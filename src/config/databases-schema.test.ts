import { join } from "node:path"
import { expect, test } from "vitest"
import { checkConfig } from "./check-configuration.ts"
import { databaseSecrets } from "./databases-schema.ts"
import { loadConfig } from "./load.ts"
import { makeFolders } from "./testing.ts"
import { startLines, trustLines } from "./trust-lines.ts"

test.each([
  [{ shop: { url: "mysql://x/y" } }, "it must be sqlite: with the path of a file, or begin with postgres://"],
  [{ shop: { url: "sqlite:" } }, "it must be sqlite:"],
  [{ shop: { url: "sqlite::memory:" } }, "it must be sqlite:"],
  [{ shop: {} }, "'databases.shop.url' is missing"],
  [{ shop: { url: "sqlite:a", readonly: true } }, "Did you mean 'databases.shop.readOnly'?"],
  [{ "a b": { url: "sqlite:a" } }, "'a b' cannot be a database's name"],
])("%j is refused with a sentence that says what to do", (databases, sentence) => {
  expect(checkConfig({ databases }).flaws.map((flaw) => flaw.sentence)).toEqual([expect.stringContaining(sentence)])
})

test("a SQLite file is relative to the configuration file, and an address comes from a variable", () => {
  const { cwd, home, write } = makeFolders()
  const yaml =
    'databases: { shop: { url: "sqlite:./shop.db" }, crm: { url: "${CRM}", roles: [a] }, gone: { url: "${GONE}" } }'
  const configPath = write("sub/quartermaster.yml", yaml)
  const url = "postgres://ann:secret@db.example/crm"
  const { config, unset, warnings } = loadConfig({ cwd, home, env: { CRM: url }, configPath })
  expect(config.databases).toEqual({
    shop: { url: `sqlite:${join(cwd, "sub", "shop.db")}` },
    crm: { url, roles: ["a"] },
  })
  expect(unset.databases).toEqual({ gone: ["GONE"] })
  expect(warnings).toEqual([expect.stringContaining("Until then the database 'gone' cannot be used.")])
})

test("an untrusted file has no databases, not even a stricter one", () => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.yml", "databases: { shop: { url: 'sqlite:./shop.db', readOnly: true } }")
  const { config, warnings } = loadConfig({ cwd, home, env: {} })
  expect(config.databases).toBeUndefined()
  expect(warnings.join()).toContain("this is ignored: databases")
})

test("what a person reads before they trust a file names the databases, without passwords", () => {
  const databases = {
    shop: { url: "sqlite:./shop.db" },
    crm: { url: "postgres://ann:p@ss/word@db.example/crm?password=other", readOnly: true },
    by: { url: "${CRM_URL}" },
  }
  const lines = [
    "opens the database: sqlite:./shop.db (databases.shop)",
    'opens the database: postgres://ann:***@db.example/crm?password=*** with {"readOnly":true} (databases.crm)',
    "opens the database: ${CRM_URL} (databases.by)",
  ]
  expect(startLines({ databases })).toEqual(lines)
  expect(trustLines("databases", databases)).toEqual(lines)
})

test.each([
  ["postgres://ann:hunter22@db.example/crm", ["hunter22"]],
  ["postgres://ann:hunter%2022@db.example/crm", ["hunter%2022", "hunter 22"]],
  ["postgres://ann:a@b:c/def@db.example/crm", ["a@b:c/def"]],
  ["postgres://db.example/crm?user=ann&password=hunter%2022", ["hunter%2022", "hunter 22"]],
  ["postgres://ann:short@db.example/crm", []],
])("of %s the address and its password are secret", (url, secrets) => {
  expect(databaseSecrets({ crm: { url }, shop: { url: "sqlite:/home/ann/shop.db" } }).sort()).toEqual(
    [url, ...secrets].sort(),
  )
})
