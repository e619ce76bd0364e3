import { expect, test } from "vitest"
import { environmentConfig, flagsConfig } from "./settings.ts"
import { problemsOf } from "./testing.ts"

test.each([
  [{ QM_TOOLS__TIMEOUT: "5000" }, { tools: { timeout: 5000 } }],
  [{ QM_TOOLS__MAX_CONCURRENT: "2" }, { tools: { maxConcurrent: 2 } }],
  [{ QM_TOOLS__MAXCONCURRENT: "2" }, { tools: { maxConcurrent: 2 } }],
  [{ QM_AGENTS__MAX_CONCURRENT_TOOLS: "2" }, { agents: { maxConcurrentTools: 2 } }],
  [{ QM_AGENT: "42" }, { agent: "42" }],
  [{ QM_TOOLS__ENABLED: "[sleep, get_env]" }, { tools: { enabled: ["sleep", "get_env"] } }],
  [
    { QM_TOOLS: '{"timeout": 1, "maxConcurrent": 2}', QM_TOOLS__TIMEOUT: "9" },
    { tools: { timeout: 9, maxConcurrent: 2 } },
  ],
  [
    { QM_TOOLS__PERMISSIONS__GET_ENV__LEVEL: "sensitive" },
    { tools: { permissions: { get_env: { level: "sensitive" } } } },
  ],
  [{ QM_TOOLS__PERMISSIONS__getEnv__MIN_LEVEL: "2" }, { tools: { permissions: { getEnv: { minLevel: 2 } } } }],
  [{ QM_DATA: "kept" }, { data: { dir: "/place/kept" } }],
  [{ QM_DATA__DIR: "/kept" }, { data: { dir: "/kept" } }],
  [{ QUARTERMASTER_DATA: "kept" }, { data: { dir: "/place/kept" } }],
  [{ QM_CONFIG: "x", QM_INSIDE: "1", PATH: "/bin", QM_TOOLS__TIMEOUT: "" }, {}],
  [{ QM_PERSON_TOKEN: "qmp_x", QM_NOTIFY_CALL_ID: "1", QM_NOTIFY_UNTIL: "2" }, {}],
  [{ QM_NOTIFY: "[{ webhook: 'http://a.example' }]" }, { notify: [{ webhook: "http://a.example" }] }],
  [{ QM_SERVER__PORT: "1" }, { server: { port: 1 } }],
  [{ QM_MCP_SERVERS__TICKETS__ENABLED: "false" }, { mcpServers: { tickets: { enabled: false } } }],
  [
    { QM_TOOLS__MCP_SERVERS: "[{ name: a, url: 'http://a.example' }]" },
    { mcpServers: { a: { url: "http://a.example" } } },
  ],
])("the environment %j sets %j", (env, config) => {
  expect(environmentConfig(env, "/place")).toEqual(config)
})

test.each([
  [{ QM_TOOLS__TIMOUT: "1" }, "QM_TOOLS__TIMOUT is not a setting of Quartermaster. Did you mean QM_TOOLS__TIMEOUT?"],
  [{ QM_CONFIGS: "1" }, "Did you mean QM_CONFIG?"],
  [{ QM_SOMETHING_ELSE_ENTIRELY: "1" }, "two underscores separate the levels"],
  [{ QM_TOOLS__ENABLED__0: "a" }, "QM_TOOLS__ENABLED__0 is not a setting"],
  [{ QM_MODELS__SMALL: "1" }, "'models.small' cannot be of type number."],
  [{ QM_TOOLS__TIMEOUT: "soon" }, "'tools.timeout' cannot be of type string."],
  [{ QM_TOOLS__ENABLED: "[sleep" }, "The [ that opens here is never closed."],
  [{ QM_TOOLS__MAX_CONCURRENT: "1", QM_TOOLS__MAXCONCURRENT: "1" }, "and so does QM_TOOLS__MAX_CONCURRENT. Keep one"],
  [{ QM_DATA__DIR: "a", QUARTERMASTER_DATA: "b" }, "and so does QM_DATA__DIR. Keep one"],
])("the environment %j is refused and the variable named", (env, sentence) => {
  const problems = problemsOf(() => environmentConfig(env, "/place"))
  expect(problems).toEqual([
    { file: Object.keys(env).at(-1), key: expect.any(String), sentence: expect.stringContaining(sentence) },
  ])
})

test.each([
  [{ "tools.timeout": "5000" }, { tools: { timeout: 5000 } }],
  [{ "tools.timeout": 5000, agent: undefined }, { tools: { timeout: 5000 } }],
  [
    { agent: "7", "data.dir": "kept" },
    { agent: "7", data: { dir: "/place/kept" } },
  ],
  [{ "tools.permissions": { "a.b": { dangerous: true } } }, { tools: { permissions: { "a.b": { dangerous: true } } } }],
])("the options %j set %j", (flags, config) => {
  expect(flagsConfig(flags, "/place")).toEqual(config)
})

test("all wrong options are reported at once, each by name", () => {
  const problems = problemsOf(() => flagsConfig({ "tools.timout": "1", "tools.timeout": "soon" }, "/place"))
  expect(problems.map(({ file }) => file)).toEqual(["flag tools.timout", "flag tools.timeout"])
})

test("a flag named __proto__ changes no object", () => {
  expect(problemsOf(() => flagsConfig({ "__proto__.polluted": true }, "/place"))).toHaveLength(1)
  expect({}).not.toHaveProperty("polluted")
})
