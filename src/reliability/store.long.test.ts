import { after, before, commit, testPlaces, type Spot, type Walk } from "./testing/places.ts"

/** The first opening of a new folder. The next process opens it as if nothing had been, and works with it. */
const opening: Walk = {
  isFresh: true,
  async look(house, { problems, ended }) {
    const { role } = await house.app.org.createRole({ name: "first" }, ann)
    const result = await house.app.call({ agentId: "operator", tool: "noise", input: { note: role.name } })
    if (!result.success) problems.push(`A call failed: ${result.error}`)
    ended.set(result.callId, "success")
  },
}

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

const key: Spot = { on: "link", match: /record\.key$/ }
const file: Spot = { on: "open", match: /quartermaster\.db$/ }
const migrated: Spot = { on: "sql", match: /^(create|alter|insert)/ }
const finished: Spot = { on: "sql", match: /user_version = .*commit/ }
const message: Spot = { on: "sql", match: /^insert into messages/ }
const role = commit('into documents.*"role"')
const agent = commit('into documents.*"agent"')

testPlaces([
  ["before the key of a new folder is in its place", opening, before(key), [1]],
  ["after the key of a new folder is in its place", opening, after(key), [1]],
  ["after the database file was made", opening, after(file), [1]],
  ["in the middle of the first migration", opening, after(migrated), [1, 4, 7, 10, 13, 16, 19, 22, 25, 28]],
  ["before a new database is there for good", opening, before(finished), [1]],
  ["after a new database was there", opening, after(finished), [1]],
  ["before a role is kept", organising(), before(role)],
  ["after a role was kept", organising(), after(role)],
  ["after an agent was kept", organising(), after(agent)],
  ["after a message was kept", organising(), after(message)],
])
