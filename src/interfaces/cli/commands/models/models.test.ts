import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { startModelServer } from "../../../../agents/testing/model-server.ts"
import type { Config } from "../../../../config/schema.ts"
import { runWithApp } from "../../testing.ts"

type Models = NonNullable<Config["models"]>

async function modelServer() {
  const server = await startModelServer()
  onTestFinished(() => server.close())
  return server
}

const qm = (models: Models, words: readonly string[], env: Record<string, string> = {}) =>
  runWithApp({}, ["models", ...words], { config: { models }, env })

const call = { calls: [{ id: "c", name: "repeat_text", arguments: { text: "hello" } }] }

test("models list shows each model, the default and whether its key is set", async () => {
  const models: Models = {
    default: "local",
    local: { provider: "openai-compatible", model: "qwen3", baseUrl: "http://127.0.0.1:1", contextTokens: 4096 },
    claude: { provider: "anthropic", model: "claude-sonnet-4-5", apiKey: "${CLAUDE}" },
    free: { provider: "openai-compatible", model: "x", baseUrl: "http://127.0.0.1:1", apiKey: "${FREE:-}" },
  }
  const { code, stdout } = await qm(models, ["list"], { CLAUDE: "sk-secret" })
  expect(code).toBe(0)
  expect(stdout).toMatch(/local +openai-compatible +qwen3 +yes +4096/)
  expect(stdout).toContain("CLAUDE is set")
  expect(stdout).toMatch(/free .* none needed \(FREE would be used\)/)
  const json = await qm(models, ["list", "--json"])
  expect(JSON.parse(json.stdout)).toMatchObject([
    { name: "local", isDefault: true, contextTokens: 4096 },
    { name: "claude", key: { variable: "CLAUDE", isSet: false } },
    { name: "free", key: { variable: "FREE", isSet: false, isOptional: true } },
  ])
  expect(stdout + json.stdout).not.toContain("sk-secret")
})

test("without models, list and test say how to add one", async () => {
  expect(await qm({}, [])).toMatchObject({ code: 0, stderr: expect.stringContaining("quartermaster.yml") as string })
  expect(await qm({}, ["test"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("quartermaster.yml") as string,
  })
})

test("models test tells of each model whether it answers, calls tools and streams", async () => {
  const server = await modelServer()
  const at = { provider: "openai-compatible" as const, baseUrl: server.openai, model: "x" }
  const folder = mkdtempSync(join(tmpdir(), "qm-models-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, "demo.yml"), "- say: Hello.\n")
  const broken = join(folder, "broken.yml")
  writeFileSync(broken, "- sya: Hello.\n")
  server.reply(
    call,
    { text: "I cannot call tools." },
    { text: "I call.", finish: "tool_calls" },
    call,
    { status: 400, body: { error: { message: "x does not support tools" } } },
    { text: "Hello." },
    call,
  )
  const { code, stdout } = await qm(
    {
      good: at,
      talks: at,
      loses: at,
      refuses: at,
      patient: { ...at, streamTools: false },
      demo: { provider: "scripted", script: join(folder, "demo.yml") },
      broken: { provider: "scripted", script: broken },
    },
    ["test", "--json"],
  )
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject([
    { name: "good", answers: true, tools: true, streaming: true, ms: expect.any(Number) as number },
    { name: "talks", answers: true, tools: false, problem: { code: "no_call" } },
    { name: "loses", answers: true, tools: true, streaming: false, problem: { code: "lost_calls" } },
    { name: "refuses", answers: true, tools: false, problem: { code: "refused_schema" } },
    { name: "patient", answers: true, tools: true, streaming: false },
    { name: "demo", answers: true },
    {
      name: "broken",
      answers: false,
      problem: { code: "bad_script", message: expect.stringContaining("broken.yml:1:") as string },
    },
  ])
})

test.each([
  ["makes the call", call, 0],
  ["only talks", { text: "I cannot call tools." }, 1],
])("models test of a model that %s ends with the code for agents, who need tools", async (_what, reply, code) => {
  const server = await modelServer()
  server.reply(reply)
  const only = { provider: "openai-compatible" as const, baseUrl: server.openai, model: "x" }
  expect((await qm({ only }, ["test"])).code).toBe(code)
})

test("models test says what a wrong key, a missing key and an unreachable server mean", async () => {
  const server = await modelServer()
  const gone = await modelServer()
  await gone.close()
  server.reply({ status: 401, body: { error: { message: "Incorrect API key provided: sk-wrong-key." } } })
  const at = { provider: "openai-compatible" as const, model: "x" }
  const models: Models = {
    wrong: { ...at, baseUrl: server.openai, apiKey: "${WRONG}" },
    missing: { ...at, baseUrl: server.openai, apiKey: "${MISSING}" },
    away: { ...at, baseUrl: gone.openai },
  }
  const { code, stdout, stderr } = await qm(models, ["test"], { WRONG: "sk-wrong-key" })
  expect(code).toBe(1)
  expect(stdout).toMatch(/wrong +openai-compatible +x +no/)
  expect(stderr).toMatch(/refused the key \(HTTP 401\).*Set WRONG/)
  expect(stderr).toContain("needs the environment variable MISSING")
  expect(stderr).toContain(`cannot be reached at ${gone.openai}`)
  expect(stdout + stderr).not.toContain("sk-wrong-key")
})

test("models test of one name asks that one; an unknown name is refused", async () => {
  const server = await modelServer()
  server.reply(call)
  const models: Models = {
    local: { provider: "openai-compatible", baseUrl: server.openai, model: "x" },
    other: { provider: "openai-compatible", baseUrl: server.openai, model: "y" },
  }
  expect((await qm(models, ["test", "local"])).code).toBe(0)
  expect(server.requests).toHaveLength(1)
  const { code, stdout } = await qm(models, ["test", "lokal", "--json"])
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({
    error: "unknown_model",
    message: expect.stringContaining("'local'") as string,
  })
})
