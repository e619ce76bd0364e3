import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import type { Agent } from "../../../core/organisation.ts"
import { isTicket } from "../../../core/result.ts"
import { sampleFiles, sampleMaker } from "../../../org/sample.ts"
import { endpoint, type Api, type Endpoint } from "./endpoint.ts"
import { HttpProblem } from "./problem.ts"

export const sampleEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "delete",
    path: "/v1/sample",
    summary: "Removes the sample: what it made of the organisation, and its files, which go to the trash.",
    tag: "Organisation",
    scope: "manage",
    answers: {
      200: z.object({
        agents: z.number(),
        roles: z.number(),
        departments: z.number(),
        files: z.number(),
        kept: z.array(z.string()).describe("What stays, because something that is not of the sample uses it."),
      }),
    },
    async handle({ api, caller }) {
      if (!api.isSample()) throw new HttpProblem(404, "There is no sample here.", { code: "not_found" })
      const { org } = api.app
      const by = { kind: "person", id: caller.id } as const
      const kept: string[] = []
      /** Removes the sample's own among these, except what is used. */
      const removed = async (list: readonly Listed[], used: ReadonlySet<string>, remove: Remove) => {
        const own = list.filter(isOwn)
        const unused = own.filter(({ id }) => !used.has(id))
        for (const { id } of unused) await remove(id)
        kept.push(...own.filter(({ id }) => used.has(id)).map(({ id }) => id))
        return unused.map(({ id }) => id)
      }
      const files = await deleteFiles(api, caller.id)
      const agents = await removed(org.listAgents(), agentsAbovePeoplesOwn(org.listAgents()), async (id) => {
        // One below another of the sample has ended with it.
        if (org.findAgent(id)?.status === "active") await org.terminateAgent(id, by, "The sample was removed.")
      })
      await untilCancelled(api, agents)
      const usedRoles = new Set(org.listAgents().flatMap((agent) => (isActive(agent) ? agent.roleId : [])))
      const roles = await removed(org.listRoles(), usedRoles, (id) => org.deleteRole(id, by))
      const users = [...org.listRoles(), ...org.listAgents()].filter(isActive)
      const usedDepartments = new Set(users.flatMap(({ department }) => department ?? []))
      const departments = await removed(org.listDepartments(), usedDepartments, (id) => org.deleteDepartment(id, by))
      return { agents: agents.length, roles: roles.length, departments: departments.length, files, kept }
    },
  }),
]

interface Listed {
  id: string
  createdBy: string
  status: string
}

type Remove = (id: string) => Promise<unknown>

function isActive({ status }: Pick<Listed, "status">): boolean {
  return status === "active"
}

function isOwn(listed: Listed): boolean {
  return listed.createdBy === sampleMaker && isActive(listed)
}

/** The agents that would take an agent with them that a person made. */
function agentsAbovePeoplesOwn(agents: readonly Agent[]): Set<string> {
  const parents = new Map(agents.map(({ id, parentId }) => [id, parentId]))
  const found = new Set<string>()
  for (const agent of agents) {
    if (!isActive(agent) || isOwn(agent) || agent.madeBy === "agent") continue
    for (let above = agent.parentId; above !== undefined && !found.has(above); above = parents.get(above))
      found.add(above)
  }
  return found
}

/** Whoever is told that the sample is gone sees none of its cards: their callers cancel them a moment after the agents ended. */
async function untilCancelled({ app, closing }: Api, agents: readonly string[]): Promise<void> {
  const waits = async () => (await app.approvals.list()).some(({ agentId }) => agents.includes(agentId))
  for (let tries = 0; tries < 100 && !closing.aborted && (await waits()); tries++) await sleep(50)
}

/** Deletes the sample's files by calls that the person who removes the sample approves, so that they can be restored. */
async function deleteFiles({ app }: Api, person: string): Promise<number> {
  let deleted = 0
  for (const path of sampleFiles) {
    const request = { agentId: "operator", tool: "delete_file", input: { path }, userId: person }
    const asked = await app.call(request, { waitMs: 0 })
    if (isTicket(asked)) await app.approvals.answer(asked.callId, { kind: "approve" }, person)
    const ended = isTicket(asked) ? await app.resume(asked.callId) : asked
    if (!isTicket(ended) && ended.success) deleted++
  }
  return deleted
}
