import type { ApprovalRequest, DeskItem, Heard, Saying, Vote } from "../model/approval.ts"
import type { Answer, CallRow } from "../model/call.ts"
import { plainProblems } from "../model/plain.ts"
import { pointedAt, pointerSteps } from "../model/pointer.ts"
import type { Ports } from "../model/ports.ts"
import { grantScopes, type GrantScope } from "../model/rule.ts"
import { answerTo } from "./answer-value.ts"
import { grantOf, wordsOf } from "./grants.ts"
import { storedRequest } from "./states.ts"

/** A stored call as the people who answer see it. */
export function deskItem(row: CallRow): DeskItem {
  const { card } = row
  const { given, sessionId } = storedRequest(row)
  return {
    callId: row.id,
    kind: kindOf(row),
    agentId: row.agentId,
    role: card.role,
    roleMadeBy: card.roleMadeBy,
    spawners: card.spawners,
    tool: row.tool,
    description: card.description,
    level: card.level,
    input: row.input === null ? undefined : (JSON.parse(row.input) as unknown),
    result: row.state === "held" ? (row.result ?? undefined) : undefined,
    question: card.question,
    reasons: row.asks,
    touches: card.touches,
    preview: row.preview ?? undefined,
    revision: row.revision,
    editedBy: card.editedBy,
    note: card.note,
    votes: row.votes,
    approvers: row.state === "held" ? [] : card.approvers,
    remember: row.state === "held" ? [] : card.remember.map((scope) => ({ scope, words: wordsOf(row, scope) })),
    taskId: given.taskId,
    userId: given.userId,
    sessionId,
    createdAt: row.createdAt,
    until: row.deadline ?? Infinity,
  }
}

/**
 * Takes what a person says to a stored call. It only writes down: whoever walks the call goes on with it. A saying is for
 * the revision the person saw.
 */
export async function sayTo(
  callId: string,
  saying: Saying,
  by: string,
  ports: Ports,
  revision?: number,
): Promise<Heard> {
  for (;;) {
    const row = await ports.calls.get(callId)
    if (row === undefined) return no(`No call '${callId}' waits. 'qm approvals list' shows what does.`)
    if (row.state !== "waiting" && row.state !== "held") return no(alreadyOver(row))
    if (row.deadline !== null && row.deadline <= ports.now()) return no("Its time is over; nobody answered in time.")
    if (revision !== undefined && revision !== row.revision) {
      return no(`It has changed since you saw it: this is revision ${row.revision} now. Look at it again, then answer.`)
    }
    const heard = hear(row, saying, by, ports)
    if ("refused" in heard) return no(heard.refused)
    // Lost to another answer of this very moment: look again.
    if (!(await ports.calls.say(callId, { revision: row.revision, votes: row.votes }, heard))) continue
    if (heard.answer === null) await noteVote(row, by, ports)
    const remember = "remember" in saying ? saying.remember : undefined
    if (heard.answer !== null && remember !== undefined) await ports.grants.keep(grantOf(row, heard.answer, remember))
    return { ok: true, done: heard.answer !== null, sentence: await whatNow(row, heard, ports) }
  }
}

/** A vote that settles nothing yet. The one that does is written down with the answer. */
async function noteVote(row: CallRow, by: string, ports: Ports): Promise<void> {
  const { id: callId, agentId, tool, revision } = row
  const about = { callId, agentId, tool, by, at: ports.now() }
  await ports.recorder.keep(
    { kind: "answered", ...about, text: `agreed to revision ${revision}` },
    ports.settings.durability,
  )
}

interface Said {
  votes: readonly Vote[]
  answer: Answer | null
}

/** What a saying makes of a row. Reads only. */
function hear(row: CallRow, saying: Saying, by: string, ports: Ports): Said | { refused: string } {
  const kind = kindOf(row)
  const fitting = sayings[kind]
  if (!fitting.includes(saying.say)) {
    return { refused: `A waiting ${kind} is answered with one of: ${fitting.join(", ")}.` }
  }
  if (ports.isAgent(by)) return { refused: `'${by}' is an agent, and only a person answers.` }
  const at = ports.now()
  const settled = (answer: Omit<Answer, "by" | "at">): Said => ({ votes: row.votes, answer: { ...answer, by, at } })
  switch (saying.say) {
    case "approve":
      return vote(row, by, saying.remember, ports)
    case "edit": {
      const problem = plainProblem("The input", saying.input)
      return problem === undefined ? settled({ approved: false, edit: { input: saying.input } }) : { refused: problem }
    }
    case "reject": {
      const { remember, reason } = saying
      if (remember === undefined || grantScopes.includes(remember))
        return settled({ approved: false, rejectReason: reason })
      return { refused: `A no cannot be remembered as '${remember}'. Choose one of: ${grantScopes.join(", ")}.` }
    }
    case "withhold":
      return settled({ approved: false, rejectReason: saying.reason })
    case "release": {
      const replaced = saying.replace === undefined ? undefined : plainProblem("The value", saying.replace)
      const problem = replaced ?? redactProblem(row, saying.redact)
      if (problem !== undefined) return { refused: problem }
      return settled({
        approved: true,
        redact: saying.redact,
        replace: saying.replace === undefined ? undefined : { value: saying.replace },
      })
    }
    case "answer": {
      const answered = answerTo(row.card.question, saying.value)
      return "wrong" in answered ? { refused: answered.wrong } : vote(row, by, undefined, ports, answered.value)
    }
  }
}

const sayings: Record<DeskItem["kind"], readonly Saying["say"][]> = {
  call: ["approve", "edit", "reject"],
  result: ["release", "withhold"],
  question: ["answer", "reject"],
}

/** One more person agrees, or answers. Without a quorum the first one settles it; with one, the last answer counts. */
function vote(
  row: CallRow,
  by: string,
  remember: GrantScope | undefined,
  ports: Ports,
  value?: Answer["value"],
): Said | { refused: string } {
  const { approvers, remember: offered } = row.card
  const at = ports.now()
  if (remember !== undefined && !offered.includes(remember)) {
    const instead = offered.length === 0 ? "Approve it once." : `Choose one of: ${offered.join(", ")}.`
    return { refused: `This yes cannot be remembered as '${remember}'. ${instead}` }
  }
  if (approvers.length > 0) {
    const { userId } = storedRequest(row).given
    if (userId === by) return { refused: `The agent acts for ${by}, so somebody else must agree.` }
    if (userId !== undefined && ports.rolesOf(by) === undefined) {
      return { refused: `The agent acts for ${userId}, and nobody knows who '${by}' is. Answer as a person: --as.` }
    }
    const asked = approvers.flatMap(({ role }) => role ?? [])
    const roles = ports.rolesOf(by)
    if (asked.length === approvers.length && !asked.some((role) => roles?.includes(role))) {
      return { refused: `${by} does not have the role that must agree (${asked.join(", ")}).` }
    }
    if (row.votes.some((earlier) => samePerson(earlier.by, by, ports))) {
      return { refused: `${by} has agreed already; somebody else must agree too.` }
    }
  }
  const votes = [...row.votes, { by, at }]
  return { votes, answer: missing(row, votes, ports) === 0 ? { approved: true, by: names(votes), at, value } : null }
}

/** How many more people must agree. Voices without a known name are together one person and have no role. */
function missing(row: CallRow, votes: readonly Vote[], ports: Ports): number {
  const people = new Set(votes.map(({ by }) => (ports.rolesOf(by) === undefined ? "" : by)))
  const lacking = row.card.approvers.map(({ role, count }) => {
    const fitting = [...people].filter((by) => role === undefined || ports.rolesOf(by)?.includes(role))
    return Math.max(0, count - fitting.length)
  })
  return Math.max(0, ...lacking)
}

function samePerson(one: string, other: string, ports: Ports): boolean {
  return one === other || (ports.rolesOf(one) === undefined && ports.rolesOf(other) === undefined)
}

/** A pointer that names nothing would let everything out. */
function redactProblem(row: CallRow, redact: readonly string[] | undefined): string | undefined {
  if (redact === undefined || redact.length === 0) return undefined
  if (row.result?.success !== true)
    return "Only parts of a result can be taken out, and this is an error. Replace it or withhold it."
  const lost = redact.find((pointer) => {
    const steps = pointerSteps(pointer)
    return steps === undefined || pointedAt(row.result?.result, steps) === undefined
  })
  return lost === undefined
    ? undefined
    : `There is nothing at '${lost}' in the result. Name a place as a JSON pointer, such as /rows/0/name.`
}

/** What cannot be written as JSON would come back from the store as something else. */
function plainProblem(what: string, value: unknown): string | undefined {
  const problems = value === undefined ? ["nothing was given"] : plainProblems(value)
  return problems.length === 0 ? undefined : `${what} cannot be kept: ${problems.join(", ")}. Give plain JSON.`
}

async function whatNow(row: CallRow, { votes, answer }: Said, ports: Ports): Promise<string> {
  if (answer === null) return `Counted. ${missing(row, votes, ports)} more must agree.`
  const waits = row.owner !== "" && (await ports.alive(row.owner))
  if (answer.edit !== undefined) {
    const when = waits ? "" : " when its caller comes back for it, within 10 minutes"
    return `It is checked and decided again${when}, and then waits here as a new revision.`
  }
  if (waits || !answer.approved || row.wanted) return "Answered."
  return "Answered. The process that made the call is gone: make the same call again within 10 minutes, and it goes on."
}

function alreadyOver(row: CallRow): string {
  const { answer } = row
  if (answer === null) return `Call ${row.id} does not wait any more; it is ${row.state}.`
  const what = answer.edit === undefined ? (answer.approved ? "yes" : "no") : "another input"
  return `${answer.by} has answered already: ${what}.`
}

function kindOf(row: CallRow): DeskItem["kind"] {
  if (row.state === "held" || row.state === "released") return "result"
  return row.card.question === undefined ? "call" : "question"
}

function names(votes: readonly Vote[]): string {
  return votes.map(({ by }) => by).join(", ")
}

function no(sentence: string): Heard {
  return { ok: false, sentence }
}

/** What an adapter is given. */
export function requestFor(row: CallRow, signal: AbortSignal): ApprovalRequest {
  return { ...deskItem(row), signal }
}
