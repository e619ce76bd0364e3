import { test } from "vitest"
import { folderFor } from "./testing/folder.ts"
import type { Failpoint } from "./testing/house-process.ts"
import { killTenTimes, type Plan } from "./testing/kill.ts"

type Walk = Omit<Plan, "point" | "tools">

/** The first opening of a new folder. The next process opens it as if nothing had been, and works with it. */
const opening = (nth: readonly number[] = [1]): Walk => ({
  isFresh: true,
  nth,
  async look(house, { problems, ended }) {
    const { role } = await house.app.org.createRole({ name: "first" }, ann)
    const result = await house.app.call({ agentId: "operator", tool: "noise", input: { note: role.name } })
    if (!result.success) problems.push(`A call failed: ${result.error}`)
    ended.set(result.callId, "success")
  },
})

const ann = { kind: "person", id: "ann" } as const

/** Roles, agents and messages, one after the other. Each that was told as made is looked for. */
function organising(): Walk {
  const made = { roles: [] as string[], agents: [] as string[], messages: [] as string[] }
  let last = 0
  return {
    async walk(house) {
      for (;;) {
        const name = `role-${++last}`
        await house.app.org.createRole({ name, toolGroups: ["data"] }, ann)
        made.roles.push(name)
        const agent = await house.app.org.createAgent({ id: `agent-${last}`, role: name }, ann)
        made.agents.push(agent.id)
        const message = await house.app.org.sendMessage({ from: "user", to: agent.id, payload: { last } })
        made.messages.push(message.id)
      }
    },
    async look(house, { problems }) {
      const roles = (await house.app.org.listRoles()).map(({ name }) => name)
      const agents = (await house.app.org.listAgents()).map(({ id }) => id)
      const inboxes = await Promise.all(made.agents.map((id) => house.app.org.inbox(id)))
      const messages = inboxes.flat().map(({ id }) => id)
      const lost = [
        ...made.roles.filter((name) => !roles.includes(name)),
        ...made.agents.filter((id) => !agents.includes(id)),
        ...made.messages.filter((id) => !messages.includes(id)),
      ]
      if (lost.length > 0) problems.push(`These were told as made, and are gone: ${lost.join(", ")}.`)
      if (new Set(roles).size !== roles.length) problems.push("A role is there twice.")
    },
  }
}

type Place = [name: string, walk: Walk, on: Failpoint["on"], match: RegExp, when: Failpoint["when"]]

const places: Place[] = [
  ["before the key of a new folder is in its place", opening(), "link", /record\.key$/, "before"],
  ["after the key of a new folder is in its place", opening(), "link", /record\.key$/, "after"],
  ["after the database file was made", opening(), "open", /quartermaster\.db$/, "after"],
  [
    "in the middle of the first migration",
    opening([1, 4, 7, 10, 13, 16, 19, 22, 25, 28]),
    "sql",
    /^(create|alter|insert)/,
    "after",
  ],
  ["before a new database is there for good", opening(), "sql", /user_version = .*commit/, "before"],
  ["after a new database was there", opening(), "sql", /user_version = .*commit/, "after"],
  ["before a role is kept", organising(), "sql", /^commit.*into documents.*"role"/, "before"],
  ["after a role was kept", organising(), "sql", /^commit.*into documents.*"role"/, "after"],
  ["after an agent was kept", organising(), "sql", /^commit.*into documents.*"agent"/, "after"],
  ["after a message was kept", organising(), "sql", /^insert into messages/, "after"],
]

test.concurrent.for(places)("kill -9 %s: what was told is there", async (place, { expect, onTestFinished }) => {
  const [name, walk, on, match, when] = place
  const plan = { point: { name, on, match, when }, tools: [], ...walk }
  const { problems, counted } = await killTenTimes(folderFor(onTestFinished), plan)
  console.log(`kill -9 ${name}: ${counted.kills} kills, ${counted.told} calls told as ended, ${counted.runs} runs.`)
  expect(problems).toEqual([])
  expect(counted.kills).toBe(10)
})
