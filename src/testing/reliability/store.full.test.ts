import { after, before, commit, testKillPlaces, type WatchedOperation, type Workload } from "./kill-places.ts"

/** Kills the process that opens a new folder first. The next process opens and uses it normally. */
const opening: Workload = {
  isFresh: true,
  async check(child, { problems, ended }) {
    const { role } = await child.app.org.createRole({ name: "first" }, ann)
    const result = await child.app.call({ agentId: "operator", tool: "noise", input: { note: role.name } })
    if (!result.success) problems.push(`A call failed: ${result.error}`)
    ended.set(result.callId, "success")
  },
}

const ann = { kind: "person", id: "ann" } as const

/** Creates roles, agents and messages. Then it checks that every acknowledged one exists. */
function organising(): Workload {
  const made = { roles: [] as string[], agents: [] as string[], messages: [] as string[] }
  let last = 0
  return {
    async work(child) {
      for (;;) {
        const name = `role-${++last}`
        await child.app.org.createRole({ name, toolGroups: ["data"] }, ann)
        made.roles.push(name)
        const agent = await child.app.org.createAgent({ id: `agent-${last}`, role: name }, ann)
        made.agents.push(agent.id)
        const message = await child.app.org.sendMessage({ from: "user", to: agent.id, payload: { last } })
        made.messages.push(message.id)
      }
    },
    async check(child, { problems }) {
      const roles = (await child.app.org.listRoles()).map(({ name }) => name)
      const agents = (await child.app.org.listAgents()).map(({ id }) => id)
      const inboxes = await Promise.all(made.agents.map((id) => child.app.org.inbox(id)))
      const messages = inboxes.flat().map(({ id }) => id)
      const lost = [
        ...made.roles.filter((name) => !roles.includes(name)),
        ...made.agents.filter((id) => !agents.includes(id)),
        ...made.messages.filter((id) => !messages.includes(id)),
      ]
      if (lost.length > 0) problems.push(`These were acknowledged and are missing: ${lost.join(", ")}.`)
      if (new Set(roles).size !== roles.length) problems.push("A role exists twice.")
    },
  }
}

const key: WatchedOperation = { on: "link", match: /record\.key$/ }
const file: WatchedOperation = { on: "open", match: /quartermaster\.db$/ }
const migrated: WatchedOperation = { on: "sql", match: /^(create|alter|insert)/ }
const finished: WatchedOperation = { on: "sql", match: /user_version = .*commit/ }
const message: WatchedOperation = { on: "sql", match: /^insert into messages/ }
const role = commit('into documents.*"role"')
const agent = commit('into documents.*"agent"')

testKillPlaces([
  ["before the key of a new folder is linked", opening, before(key), [1]],
  ["after the key of a new folder was linked", opening, after(key), [1]],
  ["after the database file was created", opening, after(file), [1]],
  ["in the middle of the first migration", opening, after(migrated), [1, 4, 7, 10, 13, 16, 19, 22, 25, 28]],
  ["before the migrations are committed", opening, before(finished), [1]],
  ["after the migrations were committed", opening, after(finished), [1]],
  ["before a role is committed", organising(), before(role)],
  ["after a role was committed", organising(), after(role)],
  ["after an agent was committed", organising(), after(agent)],
  ["after a message was written", organising(), after(message)],
])
