import type { Command } from "commander"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { clock } from "./since.ts"
import { CannotDo, idOf, listCommand } from "./usage.ts"

export function addGrants(program: Command, run: Run): void {
  const grants = program.command("grants").description("the answers that are remembered")
  listCommand(grants).option("--all", "also those whose time is over").action(run(listGrants))
  grants
    .command("revoke <id>")
    .description("forget one; a unique beginning of its id is enough")
    .action(run(revokeGrant))
}

function listGrants(session: Session, { all }: { all?: boolean }): Promise<number> {
  const { agent } = session.flags
  return withApp(session, {}, async ({ desk }) => {
    await showList(
      session,
      await desk.grants({ agentId: agent, includeExpired: all === true }),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "SAYS", of: ({ verdict }) => verdict },
        { title: "BY", of: ({ by }) => by },
        { title: "UNTIL", of: ({ expiresAt }) => (expiresAt === null ? "revoked" : clock(expiresAt)), paint: "dim" },
        { title: "MEANS", of: ({ words }) => words },
      ],
      "No answer is remembered.",
      { whole: true },
    )
    return 0
  })
}

function revokeGrant(session: Session, given: string): Promise<number> {
  const id = idOf(given)
  return withPerson(session, async ({ desk }, by) => {
    const grant = await desk.revoke(id, by.id)
    if (grant === undefined) {
      throw new CannotDo(
        "grant_not_found",
        `No remembered answer has the id '${id}', or several begin like that. 'qm grants list' shows them.`,
      )
    }
    answer(session, grant, `This no longer counts: ${grant.words}`)
    return 0
  })
}
