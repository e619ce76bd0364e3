import type { Quartermaster } from "../../app/quartermaster.ts"

/**
 * The agent that makes the call. A sub-agent of the session is an agent below the session's, one for each kind: it never
 * has more than that one.
 */
export async function hookAgent(
  { org }: Pick<Quartermaster, "org">,
  agentId: string,
  kind: string | undefined,
): Promise<string> {
  const parent = org.findAgent(agentId)
  if (kind === undefined || parent?.status !== "active") return agentId
  const word = kind
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
  const id = `${agentId}-${word === "" ? "sub" : word.slice(0, 40)}`
  const known = org.findAgent(id)
  if (known?.status === "active" && known.parentId === agentId) return id
  try {
    await org.createAgent({ id, role: parent.roleId, parentId: agentId }, { kind: "person", id: parent.createdBy })
  } catch (error) {
    // Another hook made it at the same moment.
    const made = org.findAgent(id)
    if (made?.parentId !== agentId) throw error
  }
  return id
}
