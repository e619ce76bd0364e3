import type { CliCommand } from "../../common/cli-command.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { agentOfEntries } from "../../common/known-names.ts"
import { showList } from "../../common/listing.ts"
import { printResult } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { CannotDo, requireId, listCommand } from "../../common/usage.ts"

export function addGrants(program: CliCommand, run: Run): void {
  const grants = program
    .command("grants")

    .description("list and revoke remembered answers to approvals")
  listCommand(grants, "remembered answers")
    .example("qm grants list --all")
    .option("--all", "also show expired and revoked ones")
    .action(run(listGrants))
  grants
    .command("revoke <id>")
    .example("qm grants revoke 01a1e1a9")
    .description("revoke a remembered answer; the first characters of its id are enough")
    .action(run(revokeGrant))
}

function listGrants(context: CliContext, { all }: { all?: boolean }): Promise<number> {
  return withApp(context, { readOnly: true }, async (app) => {
    await showList(
      context,
      await app.approvals.grants({ agentId: agentOfEntries(context, app), includeExpired: all === true }),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "VERDICT", of: ({ verdict }) => verdict },
        { title: "BY", of: ({ by }) => by },
        {
          title: "UNTIL",
          of: ({ expiresAt }) => (expiresAt === null ? "revoked" : formatTime(expiresAt)),
          paint: "dim",
        },
        { title: "MEANS", of: ({ words }) => words },
      ],
      "No answer is remembered.",
      { whole: true },
    )
    return 0
  })
}

function revokeGrant(context: CliContext, given: string): Promise<number> {
  const id = requireId(given)
  return withPerson(context, async ({ approvals }, by) => {
    const grant = await approvals.revoke(id, by.id)
    if (grant === undefined) {
      throw new CannotDo(
        "grant_not_found",
        `No remembered answer has the id '${id}', or several ids begin with it. 'qm grants list' shows them.`,
      )
    }
    printResult(context, grant, `Revoked: ${grant.words}`)
    return 0
  })
}
