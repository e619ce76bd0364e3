import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { ToolFailure } from "../../../../core/ending.ts"
import type { TrashAdmin, TrashItem } from "../../../../platform/files/file-access.ts"
import { confirm } from "../../common/confirm.ts"
import { printable } from "../../../../lib/printable.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { agentOfEntries } from "../../common/known-names.ts"
import { showList } from "../../common/listing.ts"
import { printResult, printMessage } from "../../common/output.ts"
import { withApp, withPerson } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { CannotDo, requireId, listCommand } from "../../common/usage.ts"

export function addTrash(program: CliCommand, run: Run): void {
  const trash = program
    .command("trash")

    .description("list and restore files that agents deleted")
  listCommand(trash, "deleted files").example("qm trash list").action(run(listTrash))
  trash
    .command("restore <id>")
    .example("qm trash restore 01a1e1a9")
    .description("put a deleted file back where it was; the first characters of its id are enough")
    .option("--yes", "restore without asking, even if programs may run what is in it")
    .action(run(restoreItem))
}

function trashOf({ trash }: Quartermaster): TrashAdmin {
  if (trash === undefined) throw new CannotDo("no_trash", "This app was opened without a workspace and has no trash.")
  return trash
}

function listTrash(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async (app) => {
    const agent = agentOfEntries(context, app)
    const items = await trashOf(app).list()
    await showList(
      context,
      items.filter(({ agentId }) => agent === undefined || agentId === agent).sort((a, b) => b.deletedAt - a.deletedAt),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "DELETED", of: ({ deletedAt }) => formatTime(deletedAt), paint: "dim" },
        { title: "BY", of: ({ agentId }) => agentId },
        { title: "KIND", of: ({ kind }) => kind },
        { title: "BYTES", of: ({ size }) => size },
        { title: "PATH", of: ({ path }) => path },
      ],
      agent === undefined ? "The trash is empty." : `The trash has nothing that ${agent} deleted.`,
    )
    return 0
  })
}

function restoreItem(context: CliContext, given: string, { yes = false }: { yes?: boolean }): Promise<number> {
  const id = requireId(given)
  return withPerson(context, async (app, by) => {
    try {
      const trash = trashOf(app)
      const found = await trash.find(id)
      const path = printable(found.path)
      if (found.taken !== undefined) {
        printMessage(context, printable(warningOf(found)))
        if (!(await confirm(context, `Restore ${path}?`, yes))) {
          printResult(context, { restored: false }, `${path} stays in the trash.`)
          return 1
        }
      }
      const item = await trash.restore(found.id, by.id)
      printResult(context, item, `Restored ${path}.`)
      return 0
    } catch (error) {
      // A path that may not be written is refused with a sentence for the person.
      if (error instanceof ToolFailure) throw new CannotDo(error.toolCode ?? "not_restored", error.message)
      throw error
    }
  })
}

/** Programs run such files without asking (for example git hooks), so the person must know before restoring one. */
function warningOf({ agentId, deletedAt, taken, id, path }: TrashItem): string {
  const who = agentId === "" ? "A command" : `A command of ${agentId}`
  return `${who} made ${path} at ${formatTime(deletedAt)}, and it was moved to the trash: ${taken}. Programs on this machine may run its content without asking. Look at it first: it is trash/${id}/item in the data folder.`
}
