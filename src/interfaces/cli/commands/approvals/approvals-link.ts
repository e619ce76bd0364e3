import type { CliContext } from "../../common/context.ts"
import { ambiguousPendingIds } from "./approvals-answer.ts"
import { contextOfServer, findServer } from "../serve/open.ts"
import { withApp, personOf } from "../../common/open-app.ts"
import { printResult } from "../../common/output.ts"
import { formatTime } from "../../common/time-text.ts"
import { ambiguousId, CannotDo, requireId } from "../../common/usage.ts"

/** Prints a link that answers one item as the user of this machine, or as the person of --as. */
export async function linkPending(given: CliContext, id: string): Promise<number> {
  const beginning = requireId(id)
  const context = await contextOfServer(given)
  return withApp(context, {}, async (app, loaded) => {
    const server = await findServer(context, loaded.dataDir)
    const item = await app.approvals.show(beginning)
    if (item === undefined) {
      const several = await ambiguousPendingIds(app.approvals, beginning)
      if (several.length > 0) throw ambiguousId(beginning, several)
      const sentence = `Nothing waits with the id '${beginning}'. 'qm approvals list' shows what waits.`
      throw new CannotDo("nothing_waits", sentence)
    }
    const { id: person } = await personOf(context, app, loaded)
    const { callId, kind, revision } = item
    const target = { callId, kind, revision, person, isMachineUser: context.flags.as === undefined }
    const { secret, expiresAt } = await app.answerLinks.create(target, person)
    const url = `${server.url}/answer/${secret}`
    const text = `${url}\nThis link answers call ${callId}, revision ${revision}, as ${person}: once, until ${formatTime(expiresAt)}.`
    printResult(context, { url, callId, revision, person, expiresAt }, text)
    return 0
  })
}
