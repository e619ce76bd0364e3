import type { Command } from "commander"
import type { App } from "../model/app.ts"
import { ToolFailure } from "../model/ending.ts"
import type { Trash } from "../model/files.ts"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer } from "./output.ts"
import { withApp, withPerson } from "./session.ts"
import { clock } from "./since.ts"
import { CannotDo, idOf, listCommand } from "./usage.ts"

export function addTrash(program: Command, run: Run): void {
  const trash = program.command("trash").description("what agents have deleted")
  listCommand(trash).action(run(listTrash))
  trash
    .command("restore <id>")
    .description("put it back where it was; a unique beginning of its id is enough")
    .action(run(restoreItem))
}

function trashOf({ trash }: App): Trash {
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
        { title: "DELETED", of: ({ deletedAt }) => clock(deletedAt), paint: "dim" },
        { title: "BY", of: ({ agentId }) => agentId },
        { title: "KIND", of: ({ kind }) => kind },
        { title: "BYTES", of: ({ size }) => size },
        { title: "PATH", of: ({ path }) => path },
      ],
      agent === undefined ? "The trash is empty." : `Nothing in the trash was deleted by ${agent}.`,
    )
    return 0
  })
}

function restoreItem(session: Session, given: string): Promise<number> {
  const id = idOf(given)
  return withPerson(session, async (app) => {
    try {
      const item = await trashOf(app).restore(id)
      answer(session, item, `${session.house.printable(item.path)} is back.`)
      return 0
    } catch (error) {
      // What the fence refuses is a sentence for whoever asked.
      if (error instanceof ToolFailure) throw new CannotDo(error.toolCode ?? "not_restored", error.message)
      throw error
    }
  })
}
