import { agentTokens } from "../agent-tokens.ts"
import { ann, openDirectory } from "./open-directory.ts"

/** Agent tokens over a real store, with agents one and two, the person bob, and a clock the test sets. */
export async function openAgentTokens() {
  const { directory, documents, again } = await openDirectory()
  await directory.createRole({ name: "worker", toolGroups: ["data"] }, ann)
  for (const id of ["one", "two"]) await directory.createAgent({ id, role: "worker" }, ann)
  await directory.createPerson({ id: "bob" }, ann)
  const clock = { at: 1_000_000 }
  const revoked: string[] = []
  const tokens = agentTokens({
    documents,
    isKnown: (id) => directory.view(id) !== undefined,
    isPerson: (id) => directory.findPerson(id)?.status === "active",
    onRevoked: async (id) => void revoked.push(id),
    now: () => clock.at,
  })
  return { tokens, directory, documents, again, clock, revoked }
}
