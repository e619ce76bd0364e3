import type { Card } from "../../src/approvals/card/schema.ts"
import type { Message } from "../../src/messages/message.ts"

const say = (text: string, code = "mock", params?: Message["params"]): Message => ({
  code,
  text,
  ...(params === undefined ? {} : { params }),
})

const agents = {
  release: { id: "release-1", role: "devops", department: "engineering", ancestors: ["dev", "root"] },
  dev: { id: "dev", role: "developer", department: "engineering", ancestors: ["root"] },
  analyst: { id: "analyst", role: "analyst", department: "research", ancestors: ["root"] },
  docs: { id: "docs-1", role: "writer", department: "engineering", roleMadeBy: "dev", ancestors: ["dev", "root"] },
} satisfies Record<string, Card["agent"]>

const level = (tool: string) => ({
  check: "level",
  source: "level of the tool",
  binding: false,
  message: say(`${tool} is sensitive: a person agrees to every call.`),
})

const minutes = (n: number) => n * 60_000

const base = (now: number) =>
  ({
    kind: "call",
    agent: agents.dev,
    tool: "run_command",
    toolDescription: "Run a shell command in the workspace.",
    level: "sensitive",
    effect: "execute",
    risk: { band: "medium", destructive: false, tags: [] },
    title: say("Run 1 command"),
    summary: "",
    reasons: [level("run_command")],
    touches: [],
    proved: true,
    files: 0,
    input: {},
    revision: 1,
    votes: [],
    approvers: [{ count: 1 }],
    mayAnswer: true,
    remember: [],
    alike: "",
    taskId: "Release 0.9.2",
    sessionId: "s1",
    createdAt: now - 48_000,
    until: now + minutes(30),
  }) satisfies Partial<Card>

const commandSchema = {
  type: "object",
  required: ["command"],
  properties: {
    command: { type: "string", description: "The command line." },
    cwd: { type: "string", description: "Folder to run in." },
    timeoutMs: { type: "integer", minimum: 1, maximum: 600000, description: "How long it may take." },
    network: { type: "boolean", description: "Whether it must reach the network." },
    shell: { enum: ["bash", "sh"], description: "Which shell." },
    env: { type: "object", description: "Variables." },
    paths: { type: "array", items: { type: "string" }, description: "Paths it may write." },
  },
}

const command =
  "npm ci --ignore-scripts && npm run build && rm -r dist/legacy && curl -fsS -T dist/console.tgz https://files.lantern.example/releases/0.9.2/"

const signIn = `--- a/src/http/sign-in.ts
+++ b/src/http/sign-in.ts
@@ -1,13 +1,24 @@
 import { Hono } from "hono"
 import { links } from "./links.ts"
+import { Link } from "./shapes.ts"
+import { tries } from "./tries.ts"
 import { cookie } from "./cookie.ts"
 
 export const signIn = new Hono()
 
 signIn.post("/sign-in", async (c) => {
-  const { token } = await c.req.json()
+  const address = addressOf(c)
+  const wait = tries.wait(address, 5)
+  if (wait > 0) {
+    c.header("retry-after", String(wait))
+    return c.json({ error: "Too many tries." }, 429)
+  }
+  const { token } = Link.parse(await c.req.json())
   const person = await links.redeem(token)
-  if (!person) return c.json({ error: "no" }, 401)
+  if (!person) {
+    tries.count(address)
+    return c.json({ error: "Link was used." }, 401)
+  }
-  c.header("set-cookie", cookie(person))
+  c.header("set-cookie", cookie(person, { secure: true }))
   return c.json({ ok: true })
 })
`

const customers = {
  customers: ["Nordwind Logistik", "Abacus Labs", "Fjord Telemetry", "Kestrel Foods"].map((name, at) => ({
    id: `cus_${4821 + at}`,
    name,
    plan: at === 1 ? "starter" : "team",
    seats: [24, 3, 61, 18][at],
    contact: `${name.split(" ")[0]?.toLowerCase()}@lantern.example`,
    ...(at === 2 ? { note: "Renewal in March. Ask for Ingrid, +47 900 15 442, not the office." } : {}),
  })),
  next: "/v1/customers?after=cus_4824&key=lk_live_9f2c41d07ab3",
}

const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAIAAAAuKetIAAAAT0lEQVR42u3PQQkAAAgEsItjKAObVmvYQhDBB4MFWLp+JyIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiIiJyZQHn3HIjd0jXfQAAAABJRU5ErkJggg=="

/** Waiting items of every kind, as a busy afternoon has them. */
export function cards(now: number): Card[] {
  const b = base(now)
  const fetched = (id: string, url: string, note: string, known: boolean): Card => ({
    ...b,
    callId: id,
    agent: agents.analyst,
    tool: "web_fetch",
    toolDescription: "Read a web page.",
    level: "moderate",
    effect: "network",
    risk: { band: "medium", destructive: false, tags: known ? [] : [say(note)] },
    title: say(`Read ${url}`),
    summary: url.replace("https://", ""),
    intent: "I compare how others document their test runners.",
    preview: { kind: "request", method: "GET", url },
    reasons: [
      {
        check: "hosts",
        source: "guard, tools.hosts",
        binding: false,
        message: say("The host is on no list of hosts."),
      },
    ],
    touches: [{ kind: "host", what: new URL(url).host, reachedBefore: known }],
    input: { url },
    inputSchema: { type: "object", required: ["url"], properties: { url: { type: "string", format: "uri" } } },
    alike: "web_fetch analyst",
    remember: [{ scope: "minutes", message: say("analyst may call web_fetch unasked for some minutes.") }],
    until: now + minutes(24) + 50_000,
  })
  return [
    {
      ...b,
      callId: "01a1e1a9-e14e",
      agent: agents.release,
      risk: { band: "high", destructive: true, tags: [say("deletes", "deletes"), say("network", "network")] },
      title: say("Run 4 commands with network"),
      summary: command,
      intent: "The old bundle must be gone before the upload, otherwise the mirror serves both versions.",
      preview: {
        kind: "command",
        command,
        cwd: ".",
        network: true,
        details: [],
        parts: [
          {
            operator: "",
            text: "npm ci --ignore-scripts",
            mark: "none",
            notes: [say("Installs what the lock file names. Reaches packages.lantern.example, which is allowed.")],
          },
          {
            operator: "&&",
            text: "npm run build",
            mark: "none",
            notes: [say("Runs the script build of package.json: vite build.")],
          },
          {
            operator: "&&",
            text: "rm -r dist/legacy",
            mark: "deny",
            notes: [say("Deletes 14 files, 212 KB. Nothing of it goes to the trash.")],
          },
          {
            operator: "&&",
            text: "curl -fsS -T dist/console.tgz https://files.lantern.example/releases/0.9.2/",
            mark: "ask",
            notes: [say("Sends 1.8 MB to files.lantern.example. No call has reached this host before.")],
          },
        ],
      },
      reasons: [
        {
          check: "commands",
          source: "guard, dangerous commands",
          binding: true,
          message: say("rm -r deletes a folder."),
        },
        {
          check: "shell",
          source: "guard, tools.shell",
          binding: true,
          message: say("The command asks for the network."),
        },
        {
          check: "hosts",
          source: "guard, tools.hosts",
          binding: false,
          message: say("files.lantern.example is on no list of hosts."),
        },
        level("run_command"),
      ],
      touches: [
        { kind: "delete", what: "dist/legacy/" },
        { kind: "write", what: "node_modules/" },
        { kind: "write", what: "dist/" },
        { kind: "read", what: "package.json" },
        { kind: "read", what: "package-lock.json" },
        { kind: "host", what: "files.lantern.example", reachedBefore: false },
      ],
      proved: false,
      files: 14,
      bytes: 1_800_000,
      input: { command, cwd: ".", timeoutMs: 120000, network: true },
      inputSchema: commandSchema,
      rememberNothing: say("Nothing wider is offered: it deletes files and asks for the network."),
      alike: "1",
      until: now + minutes(4) + 12_000,
    },
    {
      ...b,
      callId: "01a1e1aa-0001",
      risk: { band: "high", destructive: false, tags: [say("2 people", "people")] },
      title: say("Run 1 command"),
      summary: "npx prisma migrate deploy",
      intent: "The new column is needed before the deploy.",
      preview: {
        kind: "command",
        command: "npx prisma migrate deploy",
        network: false,
        details: [],
        parts: [{ operator: "", text: "npx prisma migrate deploy", mark: "ask", notes: [say("Changes a database.")] }],
      },
      reasons: [
        {
          check: "rules",
          source: "rule, quartermaster.yml rules[2]",
          binding: true,
          message: say("“Migrations are agreed on by two leads.”"),
        },
      ],
      touches: [{ kind: "command", what: "npx prisma" }],
      proved: false,
      input: { command: "npx prisma migrate deploy" },
      inputSchema: commandSchema,
      votes: [{ by: "Li Wei", at: now - 70_000 }],
      approvers: [{ role: "lead", count: 2 }],
      rememberNothing: say("A rule asks every time."),
      alike: "2",
      until: now + minutes(11) + 40_000,
    },
    {
      ...b,
      callId: "01a1e1ab-0001",
      tool: "edit_file",
      toolDescription: "Change a file.",
      effect: "write",
      risk: { band: "medium", destructive: false, tags: [say("+14 −3", "lines")] },
      title: say("Change src/http/sign-in.ts"),
      summary: "src/http/sign-in.ts",
      intent: "Limit the tries at sign-in, so that nobody can guess a link, and tell the browser when to come back.",
      preview: { kind: "diff", files: [{ path: "src/http/sign-in.ts", diff: signIn, added: 14, removed: 3 }] },
      reasons: [
        level("edit_file"),
        {
          check: "rules",
          source: "rule, quartermaster.yml rules[4]",
          binding: true,
          message: say("“Sign-in code is read by a second pair of eyes.”"),
        },
      ],
      touches: [
        { kind: "write", what: "src/http/sign-in.ts" },
        { kind: "read", what: "src/http/sign-in.ts" },
      ],
      files: 1,
      bytes: 1043,
      input: { path: "src/http/sign-in.ts", tries: 5, replace: "const { token } = await c.req.json()" },
      inputSchema: {
        type: "object",
        required: ["path"],
        properties: { path: { type: "string" }, tries: { type: "integer" }, replace: { type: "string" } },
      },
      revision: 2,
      editedBy: "Li Wei",
      rememberNothing: say("edit_file is sensitive and a rule asks every time, so a yes is not remembered."),
      rule: {
        allow: "edit_file",
        agent: "dev",
        touching: ["write:src/http/**"],
        message: say("dev may call edit_file in src/http/ unasked."),
      },
      alike: "3",
      createdAt: now - minutes(13),
      until: now + 98_000,
    },
    {
      ...b,
      callId: "01a1e1ac-0001",
      kind: "result",
      agent: agents.analyst,
      tool: "http_get",
      toolDescription: "Make a GET request.",
      level: "moderate",
      effect: "network",
      risk: { band: "medium", destructive: false, tags: [] },
      title: say("Release a result to analyst"),
      summary: "Customer list, 4 addresses and a key",
      intent: "I only need plan and seats of each customer to count how many would pay more.",
      preview: { kind: "request", method: "GET", url: "https://crm.lantern.example/v1/customers?limit=4" },
      reasons: [
        {
          check: "release",
          source: "rule, quartermaster.yml rules[7]",
          binding: true,
          message: say("“Customer data is looked at before a model reads it.”"),
        },
      ],
      input: { url: "https://crm.lantern.example/v1/customers?limit=4" },
      result: { success: true, value: customers, text: JSON.stringify(customers, null, 2) },
      bytes: 6100,
      alike: "4",
      createdAt: now - minutes(8),
      until: now + minutes(22) + 5000,
    },
    fetched("01a1e1ad-0001", "https://nodejs.org/api/test", "reached before", true),
    fetched("01a1e1ad-0002", "https://docs.rs/tokio/latest", "new host", false),
    fetched("01a1e1ad-0003", "https://hono.dev/docs/api", "new host", false),
    fetched("01a1e1ad-0004", "https://bit.ly/3xQ9", "leads elsewhere", false),
    {
      ...b,
      callId: "01a1e1ae-0001",
      kind: "question",
      tool: "ask_user",
      toolDescription: "Ask a person.",
      level: "public",
      effect: "none",
      risk: { band: "low", destructive: false, tags: [] },
      title: say("dev asks"),
      summary: "Which rate limit should sign-in have?",
      reasons: [],
      question: {
        question: "Which rate limit should sign-in have?",
        options: ["5 tries in 15 minutes", "20 an hour", "None"],
      },
      alike: "5",
      until: now + minutes(26) + 10_000,
    },
    {
      ...b,
      callId: "01a1e1ae-0002",
      kind: "question",
      tool: "ask_user",
      level: "public",
      effect: "none",
      risk: { band: "low", destructive: false, tags: [] },
      title: say("dev asks"),
      summary: "Where should the release go?",
      reasons: [],
      question: {
        question: "Where should the release go?",
        form: {
          type: "object",
          required: ["host"],
          properties: {
            host: { type: "string", title: "Host", description: "Without https://." },
            channel: { type: "string", enum: ["stable", "beta"], title: "Channel" },
            notify: { type: "boolean", title: "Tell the customers" },
          },
        },
      },
      alike: "6",
      until: now + minutes(27),
    },
    {
      ...b,
      callId: "01a1e1af-0001",
      agent: agents.docs,
      tool: "move_file",
      toolDescription: "Move or rename a file or folder.",
      level: "moderate",
      effect: "write",
      risk: { band: "low", destructive: false, tags: [] },
      title: say("Move 1 file"),
      summary: "notes/todo.md → docs/todo.md",
      preview: { kind: "text", text: "notes/todo.md → docs/todo.md" },
      reasons: [
        {
          check: "level",
          source: "level of the tool",
          binding: false,
          message: say("move_file is moderate: it asks."),
        },
      ],
      touches: [
        { kind: "write", what: "notes/todo.md" },
        { kind: "write", what: "docs/todo.md" },
      ],
      files: 2,
      input: { from: "notes/todo.md", to: "docs/todo.md" },
      inputSchema: {
        type: "object",
        required: ["from", "to"],
        properties: {
          from: { type: "string", description: "What to move." },
          to: { type: "string", description: "Where to." },
        },
      },
      remember: [
        { scope: "input-session", message: say("docs-1 may move this file unasked in this session.") },
        {
          scope: "task",
          message: say(
            "docs-1 may call move_file unasked, touching no more than notes/ and docs/, until the task Release 0.9.2 ends.",
          ),
        },
        { scope: "minutes", message: say("docs-1 may call move_file unasked for some minutes.") },
        { scope: "tool-always", message: say("docs-1 may call move_file unasked from now on.") },
      ],
      alike: "7",
      until: now + minutes(28) + 31_000,
    },
    {
      ...b,
      callId: "01a1e1b0-0001",
      agent: agents.analyst,
      tool: "save_image",
      effect: "write",
      level: "moderate",
      risk: { band: "low", destructive: false, tags: [] },
      title: say("Write charts/waits.png"),
      summary: "charts/waits.png",
      preview: { kind: "image", mimeType: "image/png", data: pixel },
      touches: [{ kind: "write", what: "charts/waits.png" }],
      files: 1,
      bytes: 812,
      input: { path: "charts/waits.png" },
      alike: "8",
      until: now + minutes(29),
    },
  ]
}
