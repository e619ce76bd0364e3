import { expect, test } from "vitest"
import { ConfigError } from "./config-error.ts"
import { loadConfig } from "./load.ts"
import { makeFolders } from "./testing.ts"

function problemsOf(yaml: string, env: Record<string, string> = {}): string[] {
  const { cwd, home, write } = makeFolders()
  const configPath = write("quartermaster.yml", yaml)
  try {
    loadConfig({ cwd, home, env, configPath })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ sentence }) => sentence)
  }
}

test.each<[string, string]>([
  ["models: { a: { model: x } }", "'models.a' has no provider."],
  ["models: { a: { provider: anthropc } }", "Write one of: openai-compatible, anthropic, google, scripted."],
  ["models: { a: { provider: scripted } }", "'models.a' has no script."],
  ["models: { a: { provider: openai-compatible, model: x } }", "'models.a' has no baseUrl."],
  ["models: { a: { provider: openai-compatible, baseUrl: 'http://a.example' } }", "'models.a' has no model."],
  ["models: { my-claude: { provider: anthropic, model: x } }", 'apiKey: "${MY_CLAUDE_API_KEY}"'],
  ["models: { a: { provider: google, model: x, apiKey: '${K}', script: x.yml } }", "has a script, which is for"],
  ["models: { a: { provider: scripted, script: x.yml, baseUrl: 'http://a.example' } }", "which are for servers"],
  ["models: { a: { provider: scripted, scrpt: x.yml } }", "Did you mean 'models.a.script'?"],
  ["models: { a: scripted }", "'models.a' cannot be of type string."],
  ["models: { a: { baseUrl: 'file:///etc' } }", "it must be a URL"],
  [
    "models: { a: { provider: scripted, script: x.yml, firstByteTimeout: 3 } }",
    "'models.a.firstByteTimeout' is not right: it is in milliseconds and at least 100; three seconds are 3000.",
  ],
  ["models: { a: { provider: scripted, script: x.yml, timeout: 99 } }", "it is in milliseconds"],
  ["models: { a: { price: { input: -1, output: 1 } } }", "'models.a.price.input' is too small."],
])("%s is refused with a sentence", (yaml, sentence) => {
  expect(problemsOf(yaml)).toEqual([expect.stringContaining(sentence)])
})

test.each(["sk-live-0815", "Bearer ${KEY}", "${KEY:-sk-live-0815}", "${KEY}${OTHER}", "$KEY"])(
  "the key %j in a file is refused, and not repeated",
  (apiKey) => {
    const problems = problemsOf(`models: { a: { provider: anthropic, model: x, apiKey: "${apiKey}" } }`, {
      KEY: "k",
      OTHER: "o",
    })
    expect(problems).toEqual([expect.stringContaining("keys come from the environment only")])
    expect(problems.join()).not.toContain("sk-live-0815")
  },
)

test.each(["http://ann:pa55word@a.example/v1", "https://pa55word@a.example", "${AT}"])(
  "the baseUrl %j with a password is refused, and not repeated",
  (baseUrl) => {
    const problems = problemsOf(`models: { a: { provider: openai-compatible, model: x, baseUrl: "${baseUrl}" } }`, {
      AT: "http://ann:pa55word@a.example/v1",
    })
    expect(problems).toEqual([expect.stringContaining("it must have no user and password")])
    expect(problems.join()).not.toContain("pa55word")
  },
)

test("keys stay references, other variables are replaced, and scripts are found beside the file", () => {
  const { cwd, home, write } = makeFolders()
  const yaml = [
    'models: { default: "${WHICH}", a: { provider: openai-compatible, baseUrl: "${AT}", model: x, apiKey: "${UNSET}" },',
    "  b: { provider: scripted, script: demo.yml } }",
  ].join("\n")
  const configPath = write("quartermaster.yml", yaml)
  const { config } = loadConfig({ cwd, home, env: { WHICH: "a", AT: "http://127.0.0.1:1/v1" }, configPath })
  expect(config.models).toEqual({
    default: "a",
    a: { provider: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1", model: "x", apiKey: "${UNSET}" },
    b: { provider: "scripted", script: expect.stringMatching(/^\/.*\/demo\.yml$/) as string },
  })
})

test("a variable that is not set is a warning, and the model that needs it is left out", () => {
  const { cwd, home, write } = makeFolders()
  const yaml =
    'models: { default: a, a: { provider: openai-compatible, baseUrl: "${AT}", model: x }, b: { provider: scripted, script: b.yml } }'
  const configPath = write("quartermaster.yml", yaml)
  const { config, unset, warnings } = loadConfig({ cwd, home, env: {}, configPath })
  expect(Object.keys(config.models ?? {})).toEqual(["default", "b"])
  expect(unset.models).toEqual({ a: ["AT"] })
  expect(warnings).toEqual([expect.stringContaining("Until then the model 'a' cannot be used.")])
})

test("a layer may change one key of a model, by variable or option", () => {
  const { cwd, home, write } = makeFolders()
  const configPath = write("quartermaster.yml", "models: { a: { provider: scripted, script: demo.yml } }")
  const overrides = { "models.a.contextTokens": "4000", "models.default": "a" }
  const { config } = loadConfig({ cwd, home, env: { QM_MODELS__A__TIMEOUT: "5000" }, configPath, overrides })
  expect(config.models).toMatchObject({ default: "a", a: { provider: "scripted", contextTokens: 4000, timeout: 5000 } })
})

test("an untrusted file has no models", () => {
  const { cwd, home, write } = makeFolders()
  write("quartermaster.yml", "models: { default: a, a: { provider: scripted, script: demo.yml } }")
  const { config, warnings } = loadConfig({ cwd, home, env: {} })
  expect(config.models).toBeUndefined()
  expect(warnings.join()).toContain("this is ignored: models")
})
