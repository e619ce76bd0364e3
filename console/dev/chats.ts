import type {
  AnswerPieceJson,
  CallRowJson,
  ChainSideJson,
  ChainViewJson,
  ConversationJson,
  ShownTurnJson,
} from "../../src/interfaces/http/routes/chain-schemas.ts"

const minute = 60_000

const call = (place: number, tool: string, summary: string, more: Partial<CallRowJson> = {}): CallRowJson => ({
  place,
  callId: `call-${tool}-${place}`,
  tool,
  title: { code: "mock", text: `${tool} ${summary}` },
  summary,
  state: "ended",
  status: "success",
  asked: false,
  held: false,
  ran: true,
  durationMs: 4 + place * 5,
  input: JSON.stringify({ path: summary }),
  result: "export function signIn(request) {\n  return allowed(request)\n}",
  ...more,
})

const answered = `I read the handler first, then add the limit and its test. The plan:

1. Count the tries **by address**, in \`src/http/tries.ts\`
2. Refuse the sixth for a minute
3. Add a test

\`\`\`ts
export const limit = (tries: number) => tries > 5
\`\`\`

| Try | Answer |
| --- | --- |
| 1 to 5 | 200 or 401 |
| 6 | 429 |

See [the notes](https://notes.lantern.example/tries) and <b>no HTML</b>. ![a picture](https://evil.example/pixel.png)`

/** The conversation of the pictures: at work, with a card of its own and one of an agent below. */
export function chatView(now: number, card: string | undefined, below: string | undefined): ChainViewJson {
  const at = now - 6 * minute
  const items: ShownTurnJson[] = [
    {
      kind: "message",
      index: 0,
      at,
      by: "ann",
      name: "Ann Weber",
      from: "person",
      text: "Limit the tries at sign-in, with a test. Then build 0.9.2 and upload it.",
      begins: true,
      images: [],
    },
    {
      kind: "answer",
      index: 1,
      at: at + 4000,
      model: "local",
      text: answered,
      reasoning: "The handler is small. A map by address is enough.",
      finishReason: "tool-calls",
      asked: 1,
      interrupted: false,
      calls: [
        call(0, "read_file", "src/http/sign-in.ts"),
        call(1, "write_file", "src/http/tries.ts", { asked: true, by: "Ann Weber" }),
        call(2, "run_command", "npm test -- sign-in", {
          state: "running",
          ran: undefined,
          durationMs: undefined,
          result: undefined,
          startedAt: now - 14_000,
        }),
        ...(card === undefined
          ? []
          : [
              call(3, "run_command", "npm ci && npm run build", {
                state: "waiting",
                asked: true,
                card,
                result: undefined,
              }),
            ]),
      ],
    },
  ]
  return {
    conversation: conversations(now)[0]!,
    items,
    length: 2,
    unfinished: {
      turn: 2,
      attempt: 1,
      interrupted: false,
      text: "While that waits for you, I write the entry for the change log. The limit",
      reasoning: "",
    },
    queued: [{ index: 3, text: "Use vitest’s fake timers in the new test.", by: "ann", at: now - 4000 }],
    waitingBelow:
      below === undefined
        ? []
        : [
            {
              card: below,
              agentId: "release-1",
              task: "Check the bundle, then upload it",
              depth: 1,
              tool: "run_command",
              conversationId: "below",
              at: now - 48_000,
            },
          ],
    branches: [],
    may: { say: true, manage: true },
  }
}

export function conversations(now: number): ConversationJson[] {
  const some: [string, string, ConversationJson["shown"], number][] = [
    ["Release 0.9.2", "dev", "working", 2],
    ["How many would pay more", "analyst", "waiting", 12],
    ["Rewrite the page on rules", "docs-1", "working", 34],
    ["Why did the build get slower", "dev", "done", 18 * 60],
    ["Compare three queue libraries", "analyst", "done", 21 * 60],
    ["Flaky test in retry.test.ts", "tester-1", "failed", 26 * 60],
    ...Array.from({ length: 60 }, (_, at): [string, string, "done", number] => [
      `Notes of week ${60 - at}`,
      "dev",
      "done",
      (30 + at * 24) * 60,
    ]),
  ]
  return some.map(([title, agentId, shown, ago], at) => ({
    id: `chat-${at}`,
    agentId,
    state: shown === "working" ? "active" : "idle",
    startedBy: "ann",
    length: 4,
    createdAt: now - ago * minute - minute,
    updatedAt: now - ago * minute,
    title,
    preview: "The limit",
    shown,
    cost: 0.42,
    elsewhere: false,
  }))
}

export const chatSide = (now: number): ChainSideJson => ({
  agentId: "dev",
  role: "developer",
  department: "engineering",
  taskId: "Release 0.9.2",
  model: { name: "local", seesImages: true, next: "local" },
  models: [
    { name: "local", seesImages: true },
    { name: "small", seesImages: false },
  ],
  mode: "ask",
  rounds: { used: 11, max: 40 },
  budget: {
    cost: { used: 0.42, max: 2 },
    tokens: { used: 69_600 },
    calls: { used: 14 },
    inputTokens: 61_200,
    outputTokens: 8_400,
  },
  context: {
    usedTokens: 31_000,
    maxTokens: 100_000,
    status: "normal",
    thresholds: { warning: 0.7, critical: 0.9, exceeded: 0.95 },
  },
  below: [
    {
      agentId: "release-1",
      conversationId: "below",
      task: "Check the bundle, then upload it",
      depth: 1,
      doing: "waiting",
      tools: [],
      cost: 0.06,
      since: now - 48_000,
    },
    {
      agentId: "docs-1",
      conversationId: "docs",
      task: "Write the change log",
      depth: 1,
      doing: "working",
      tools: ["write_file"],
      cost: 0.03,
      since: now - 8000,
    },
  ],
  changed: [
    {
      path: "src/http/tries.ts",
      added: 2,
      removed: 1,
      deleted: false,
      diff: "--- a/src/http/tries.ts\n+++ b/src/http/tries.ts\n@@ -1,2 +1,3 @@\n const tries = new Map()\n-export {}\n+export const limit = (n: number) => n > 5\n+export { tries }\n",
    },
    { path: "src/http/tries.test.ts", added: 71, removed: 0, deleted: false, diff: "", note: "not_known" },
  ],
})

/** The next words of the unfinished answer. */
export const nextPiece = (offset: number, text: string): AnswerPieceJson => ({
  conversationId: "chat-0",
  turn: 2,
  attempt: 1,
  interrupted: false,
  part: "text",
  offset,
  text,
})
