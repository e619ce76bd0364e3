import type { Command } from "commander"
import type { App } from "../model/app.ts"
import { ToolFailure } from "../model/ending.ts"
import type { TrashDoor, TrashItem } from "../model/files.ts"
import { confirm } from "./confirm.ts"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer, say } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { clock } from "./since.ts"
import { CannotDo, idOf, listCommand } from "./usage.ts"

export function addTrash(program: Command, run: Run): void {
  const trash = program.command("trash").description("what agents have deleted, and what was taken away from commands")
  listCommand(trash).action(run(listTrash))
  trash
    .command("restore <id>")
    .description("put it back where it was; a unique beginning of its id is enough")
    .option("--yes", "put it back without asking, also where programs may run what is in it")
    .action(run(restoreItem))
}

function trashOf({ trash }: App): TrashDoor {
  if (trash === undefined)
    throw new CannotDo("no_trash", "This house was opened without a workspace, and has no trash.")
  return trash
}

function listTrash(session: Session): Promise<number> {
  const { agent } = session.flags
  return withApp(session, {}, async (app) => {
    const items = await trashOf(app).list()
    await showList(
      session,
      items
        .filter(({ agentId }) => agent === undefined || agentId === agent)
        .sort((one, other) => other.deletedAt - one.deletedAt),
      [
        { title: "ID", of: ({ id }) => id, paint: "bold" },
        { title: "SINCE", of: ({ deletedAt }) => clock(deletedAt), paint: "dim" },
        { title: "BY", of: ({ agentId }) => agentId },
        { title: "WAS", of: ({ taken }) => (taken === undefined ? "deleted" : "made by a command") },
        { title: "KIND", of: ({ kind }) => kind },
        { title: "BYTES", of: ({ size }) => size },
        { title: "PATH", of: ({ path }) => path },
      ],
      agent === undefined ? "The trash is empty." : `Nothing in the trash is of ${agent}.`,
    )
    return 0
  })
}

function restoreItem(session: Session, given: string, { yes = false }: { yes?: boolean }): Promise<number> {
  const id = idOf(given)
  return withPerson(session, async (app, by) => {
    try {
      const trash = trashOf(app)
      const found = await trash.find(id)
      const path = session.house.printable(found.path)
      if (found.taken !== undefined) {
        say(session, session.house.printable(warningOf(found)))
        if (!(await confirm(session, `Put ${path} back?`, yes))) {
          answer(session, { restored: false }, `${path} stays in the trash.`)
          return 1
        }
      }
      const item = await trash.restore(found.id, by.id)
      answer(session, item, `${path} is back.`)
      return 0
    } catch (error) {
      // What the fence refuses is a sentence for whoever asked.
      if (error instanceof ToolFailure) throw new CannotDo(error.toolCode ?? "not_restored", error.message)
      throw error
    }
  })
}

/** Programs run what is in such files without asking, so whoever brings one back must know. */
function warningOf({ agentId, deletedAt, taken, id, path }: TrashItem): string {
  const who = agentId === "" ? "A command" : `A command of ${agentId}`
  return `${who} made ${path} at ${clock(deletedAt)}, and it was taken away: ${taken}. What is in it may run on this machine without being asked for. Look at it first: it is trash/${id}/item in the data folder.`
}
