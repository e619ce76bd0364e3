import type { DeskReader } from "../model/app.ts"
import type { CallRow } from "../model/call.ts"
import type { Documents } from "../model/documents.ts"
import type { Ports } from "../model/ports.ts"
import type { Grant } from "../model/rule.ts"
import { deskItem, sayTo } from "./desk.ts"

const pageSize = 1000

/** What waits for a person, for doors where people answer. */
export function deskDoor(ports: Ports, documents: Documents): DeskReader {
  /** Everything that waits and is not over, however much that is. */
  const waiting = async (agentId?: string): Promise<CallRow[]> => {
    const found: CallRow[] = []
    for (let page: CallRow[] | undefined; page === undefined || page.length === pageSize;) {
      const after = found.at(-1)
      page = await ports.calls.list({
        states: ["waiting", "held"],
        openAt: ports.now(),
        limit: pageSize,
        ...(agentId !== undefined && { agentId }),
        ...(after && { after }),
      })
      found.push(...page)
    }
    return found
  }
  return {
    list: async ({ agentId } = {}) => (await waiting(agentId)).map(deskItem),
    async show(callId) {
      const row = (await ports.calls.get(callId)) ?? onlyOne((await waiting()).filter(({ id }) => begins(id, callId)))
      const waits = row !== undefined && (row.state === "waiting" || row.state === "held")
      return waits && (row.deadline === null || row.deadline > ports.now()) ? deskItem(row) : undefined
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

function onlyOne<T>(found: readonly T[]): T | undefined {
  return found.length === 1 ? found[0] : undefined
}

/** Nothing is the beginning of everything, and names nothing. */
function begins(id: string, beginning: string): boolean {
  return beginning !== "" && id.startsWith(beginning)
}
