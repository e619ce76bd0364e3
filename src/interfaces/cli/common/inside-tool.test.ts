import type { Quartermaster } from "../../../app/quartermaster.ts"
import { expect, test } from "vitest"
import { runWithApp, type AppParts } from "../testing.ts"

/** Every command there is, with words that are right. */
const people = [
  "approvals",
  "approvals list",
  "approvals show 1",
  "approvals approve 1",
  "approvals edit 1 {}",
  "approvals reject 1",
  "approvals release 1",
  "approvals withhold 1",
  "approvals answer 1 yes",
  "approvals watch",
  "grants",
  "grants list",
  "grants revoke 1",
  "rules add {}",
  "rules remove 1",
  "roles create --name x",
  "roles update x --level 1",
  "roles delete x",
  "agents create --role x",
  "agents terminate x",
  "agents inbox x",
  "departments create --id x",
  "departments rename x --name y",
  "departments delete x",
  "people create --id x",
  "people token x",
  "people update x --name y",
  "people delete x",
  "freeze",
  "thaw",
  "mode plan --session s",
  "trust",
  "init",
  "init --from claude",
  "install claude",
  "serve",
  "open",
  "tokens",
  "tokens list",
  "tokens create --agent x",
  "tokens revoke 1",
  "mcp pins",
  "mcp pins list",
  "mcp pins diff x",
  "mcp pins trust x --yes",
  "trash",
  "trash list",
  "trash restore 1",
  "backup there",
  "restore there",
  "audit drop --before 1d --yes",
  "run hello",
  "chat",
  "chat --resume",
]

/** An app that must not be used. */
const untouched = new Proxy({} as Quartermaster, {
  get: () => {
    throw new Error("The app was opened.")
  },
})

test.each(people)("inside a tool 'qm %s' is refused before anything is opened", async (line) => {
  const refused = await runWithApp({}, line.split(" "), {
    env: { QM_INSIDE: "1" },
    runtime: { openApp: () => Promise.resolve(untouched), loadConfig: () => Promise.reject(new Error("It was read.")) },
  })
  expect(refused).toMatchObject({ code: 3, stdout: "" })
  expect(refused.stderr).toMatch(/^'qm [a-z ]+' is for people, and this runs inside a tool \(QM_INSIDE is set\)\. Ask /)
})

test.each([
  "tools",
  "groups",
  "audit",
  "audit list",
  "audit stats",
  "audit export",
  "rules",
  "roles list",
  "agents",
  "departments",
  "people",
  "mcp list",
  "why sleep",
])("inside a tool 'qm %s' works", async (line) => {
  const app = {
    visibleTools: () => [],
    listGroups: () => [],
    why: () =>
      Promise.resolve({
        agentId: "dev",
        tool: "sleep",
        reasons: [],
        checks: [],
        touches: { list: [], proved: true },
        approvers: [],
        change: [],
      } as never),
    rules: { list: () => [], flaws: () => [] },
    org: {
      findAgent: (id: string) => ({ id }) as never,
      listRoles: () => [],
      listAgents: () => [],
      listDepartments: () => [],
      listPeople: () => [],
    },
    audit: {
      list: () => Promise.resolve([]),
      showMany: () => Promise.resolve(new Map()),
      stats: () =>
        Promise.resolve({ total: 0, failures: 0, byTool: {}, byAgent: {}, byRole: {}, byEnding: {}, byHour: {} }),
      export: async function* () {},
    },
  }
  expect(await runWithApp(app, line.split(" "), { env: { QM_INSIDE: "1", QM_AGENT: "operator" } })).toMatchObject({
    code: 0,
  })
})

const inside = { QM_INSIDE: "1", QM_AGENT: "dev" }

test.each<[string, Record<string, string>, string]>([
  ["--set tools.timeout=1", inside, "--set"],
  ["--config mine.yml", inside, "--config"],
  ["--data there", inside, "--data"],
  ["", { ...inside, QM_CONFIG: "mine.yml" }, "QM_CONFIG"],
  ["", { ...inside, QM_TOOLS__TIMEOUT: "1" }, "QM_TOOLS__TIMEOUT"],
  ["", { ...inside, QM_Agent: "root" }, "QM_Agent"],
  ["", { ...inside, QM_NOTIFY__COMMAND: "x" }, "QM_NOTIFY__COMMAND"],
  ["", { ...inside, QUARTERMASTER_DATA: "there" }, "QUARTERMASTER_DATA"],
])(
  "inside a tool the configuration cannot be changed: '%s' with %j is refused before anything is opened",
  async (flag, env, what) => {
    for (const line of ["call sleep duration=1", "why sleep", "tools", "audit list"]) {
      const refused = await runWithApp({}, `${line} ${flag}`.trim().split(" "), {
        env,
        runtime: {
          openApp: () => Promise.resolve(untouched),
          loadConfig: () => Promise.reject(new Error("It was read.")),
        },
      })
      expect(refused).toMatchObject({ code: 3, stdout: "" })
      expect(refused.stderr).toMatch(
        new RegExp(`^${what} is for people, and this runs inside a tool \\(QM_INSIDE is set`),
      )
    }
  },
)

/** Runs a command inside a tool; `calls` has the agents that it called, asked or looked as. */
async function asAgent(line: string, env: Record<string, string>, given: { stdin?: string; agent?: string } = {}) {
  const calls: string[] = []
  const above: Record<string, string | undefined> = { dev: undefined, child: "dev", grandchild: "child", other: "root" }
  const app: AppParts = {
    org: { findAgent: (id) => (id in above ? ({ id, parentId: above[id] } as never) : undefined) },
    on: () => () => {},
    visibleTools: (agentId: string) => (calls.push(agentId), []),
    listGroups: () => [],
    call: ({ agentId }: { agentId: string }) => (
      calls.push(agentId),
      Promise.resolve({ success: true, status: "success" } as never)
    ),
    why: ({ agentId }: { agentId: string }) => {
      calls.push(agentId)
      return Promise.resolve({ reasons: [], checks: [], touches: { list: [] }, approvers: [], change: [] } as never)
    },
  }
  const { stdin, agent } = given
  const ended = await runWithApp(app, line.split(" "), {
    env: { QM_INSIDE: "1", QM_PERSON_TOKEN: "t", QM_NOTIFY_TEXT: "t", ...env },
    ...(stdin === undefined ? {} : { stdin }),
    ...(agent === undefined ? {} : { config: { agent } }),
  })
  return { ...ended, calls: [...new Set(calls)] }
}

const lines = ["call sleep", "why sleep", "tools", "tools show x", "groups", "groups show x"]

test.each<[string, Record<string, string>, string]>([
  ["", { QM_AGENT: "dev" }, "dev"],
  [" --agent dev", { QM_AGENT: "dev" }, "dev"],
  [" --agent child", { QM_AGENT: "dev" }, "child"],
  [" --agent grandchild", { QM_AGENT: "dev" }, "grandchild"],
  [" --agent root", { QM_AGENT: "root" }, "root"],
  ["", { QM_AGENT: "operator" }, "operator"],
  [" --agent dev", {}, "dev"],
])("inside a tool '%s' with %j acts as agent %s", async (flag, env, agent) => {
  for (const line of lines) {
    const { calls, code } = await asAgent(line + flag, env)
    expect({ calls, allowed: code !== 3 }).toEqual({ calls: [agent], allowed: true })
  }
})

test.each<[string, Record<string, string>, RegExp]>([
  ["", {}, /and no agent is named\. .* must set QM_AGENT/],
  ["", { QM_AGENT: "" }, /no agent is named/],
  [" --agent root", {}, /it may not act as agent 'root'/],
  [" --agent operator", {}, /it may not act as agent 'operator'/],
  [" --agent root", { QM_AGENT: "dev" }, /of agent dev \(QM_AGENT\), so it cannot act as 'root'/],
  [" --agent operator", { QM_AGENT: "dev" }, /'operator'/],
  [" --agent other", { QM_AGENT: "dev" }, /'other'/],
  [" --agent dev", { QM_AGENT: "child" }, /'dev'/],
  [" --agent unknown", { QM_AGENT: "dev" }, /'unknown'/],
])("inside a tool '%s' with %j is refused", async (flag, env, sentence) => {
  for (const line of lines) {
    const { calls, code, stdout, stderr } = await asAgent(line + flag, env)
    expect({ calls, code, stdout }).toEqual({ calls: [], code: 3, stdout: "" })
    expect(stderr).toMatch(sentence)
  }
})

test("inside a tool the configuration may name the agent, but none of the built-in ones", async () => {
  expect(await asAgent("call sleep", {}, { agent: "dev" })).toMatchObject({ code: 0, calls: ["dev"] })
  expect(await asAgent("call sleep", {}, { agent: "operator" })).toMatchObject({ code: 3, calls: [] })
  expect(await asAgent("call sleep", { QM_AGENT: "child" }, { agent: "dev" })).toMatchObject({ calls: ["child"] })
})

test("inside a tool each line of 'qm why --stdin' may name the same agents as --agent", async () => {
  const stdin = ['{"tool":"a"}', '{"tool":"a","agent":"child"}', '{"tool":"a","agent":"root"}'].join("\n")
  const { calls, code, stdout } = await asAgent("why --stdin", { QM_AGENT: "dev" }, { stdin })
  expect({ calls, code }).toEqual({ calls: ["dev", "child"], code: 1 })
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => "error" in (JSON.parse(line) as object)),
  ).toEqual([false, false, true])
})

test("a person whose identity is not proved cannot change anything", async () => {
  const app = { org: { deleteRole: () => Promise.reject(new Error("It was reached.")) } }
  const identifyPerson = () => Promise.reject(new Error("Nothing here proves that you are 'ann'."))
  expect(await runWithApp(app, ["--as", "ann", "roles", "delete", "x"], { runtime: { identifyPerson } })).toEqual({
    code: 3,
    stdout: "",
    stderr: "Nothing here proves that you are 'ann'.\n",
  })
})
