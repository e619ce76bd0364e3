import { setTimeout as sleep } from "node:timers/promises"
import { z } from "zod"
import { isTicket } from "../../model/result.ts"
import { sampleFiles, sampleMaker } from "../../model/sample.ts"
import { endpoint, type Api, type Endpoint } from "./endpoint.ts"
import { HttpProblem } from "./problem.ts"

export const sampleEndpoints: readonly Endpoint[] = [
  endpoint({
    method: "delete",
    path: "/v1/sample",
    summary: "Removes the sample: what it made of the organisation, and its files, which go to the trash.",
    tag: "Organisation",
    scope: "manage",
    answers: { 200: z.object({ agents: z.number(), roles: z.number(), departments: z.number(), files: z.number() }) },
    async handle({ api, caller }) {
      if (!api.isSample()) throw new HttpProblem(404, "There is no sample here.", { code: "not_found" })
      const { org } = api.app
      const by = { kind: "person", id: caller.id } as const
      const isOwn = ({ createdBy, status }: { createdBy: string; status: string }) =>
        createdBy === sampleMaker && status === "active"
      const files = await deleteFiles(api, caller.id)
      const agents = org.listAgents().filter(isOwn)
      for (const { id } of agents) await org.terminateAgent(id, by, "The sample was removed.")
      await untilCancelled(
        api,
        agents.map(({ id }) => id),
      )
      const roles = org.listRoles().filter(isOwn)
      for (const { id } of roles) await org.deleteRole(id, by)
      const departments = org.listDepartments().filter(isOwn)
      for (const { id } of departments) await org.deleteDepartment(id, by)
      return { agents: agents.length, roles: roles.length, departments: departments.length, files }
    },
  }),
]

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
    const asked = await app.submit(request, { waitMs: 0 })
    if (isTicket(asked)) await app.approvals.answer(asked.callId, { kind: "approve" }, person)
    const ended = isTicket(asked) ? await app.resume(asked.callId) : asked
    if (!isTicket(ended) && ended.success) deleted++
  }
  return deleted
}
