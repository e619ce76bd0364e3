import type { DeskReader } from "../model/app.ts"
import type { CallRow } from "../model/call.ts"
import type { Documents, Ports } from "../model/ports.ts"
import type { Grant } from "../model/rule.ts"
import { deskItem, sayTo } from "./desk.ts"

/** What waits for a person, for doors where people answer. */
export function deskDoor(ports: Ports, documents: Documents): DeskReader {
  const waiting = (agentId: string | undefined) =>
    ports.calls.list({ states: ["waiting", "held"], ...(agentId === undefined ? {} : { agentId }) })
  return {
    list: async ({ agentId } = {}) => (await waiting(agentId)).filter(inTime(ports)).map(deskItem),
    async show(callId) {
      const named = await ports.calls.get(callId)
      const found = named === undefined ? (await waiting(undefined)).filter(({ id }) => begins(id, callId)) : [named]
      const row = onlyOne(found.filter(({ state }) => state === "waiting" || state === "held").filter(inTime(ports)))
      return row && deskItem(row)
    },
    say: (callId, saying, by, revision) => sayTo(callId, saying, by, ports, revision),
    grants: async ({ agentId, includeExpired = false } = {}) =>
      [...documents.all("grant")]
        .filter(({ live }) => live)
        .map(({ body }) => body as Grant)
        .filter((grant) => agentId === undefined || grant.agentId === agentId)
        .filter((grant) => includeExpired || grant.expiresAt === null || grant.expiresAt > ports.now())
        .sort((one, other) => one.createdAt - other.createdAt),
    async revoke(grantId, by) {
      const found = [...documents.all("grant")].filter(({ live, id }) => live && begins(id, grantId))
      const document = onlyOne(found)
      if (document === undefined) return undefined
      await documents.put({ kind: "grant", id: document.id, live: false, body: document.body }, by)
      return document.body as Grant
    },
  }
}

function inTime(ports: Ports): (row: CallRow) => boolean {
  return ({ deadline }) => deadline === null || deadline > ports.now()
}

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}

/** Nothing is the beginning of everything, and names nothing. */
function begins(id: string, beginning: string): boolean {
  return beginning !== "" && id.startsWith(beginning)
}
