// What the pictures show: each scene brings a page into one state. Scenes of a list are taken in order, in every size.
import { readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { call, request } from "./sample-server.mjs"

const open = (path) => async (page, server) => {
  await page.goto(`${server.url}${path}`)
  await page.locator("h1").first().waitFor({ state: "attached" })
}
const scene = (name, show, more = {}) => ({ name, show, ...more })

/** The calls that `fill` made, by the name of their scene. */
const calls = {}
const card = (name, then = async () => {}) =>
  scene(`card-${name}`, async (page, server) => {
    await page.goto(`${server.url}/inbox/${calls[name]}${name === "alike" ? "" : "?one=yes"}`)
    await page.locator("#card-title").waitFor()
    await page.waitForTimeout(700)
    await then(page, server)
  })

const command = "npm ci --ignore-scripts && npm run build && rm -r dist/legacy && git status --short"
const lines = (count) => Array.from({ length: count }, (_, at) => `- Point ${at + 1} of the notes.`).join("\n")

/** What the configuration of the sample has not. Its last key is `rules`, which the first lines continue. */
const configuration = (root) => `
  - { ask: json_parse, release: always, because: Somebody looks at customer data before a model reads it. }
  - { ask: move_file, approvers: { count: 2 }, because: Two people agree before files move. }
  - { deny: http_get, touching: "host:ads.example", because: Advertising is not our work. }
org:
  people:
    - { id: li, name: Li Wei, roles: [lead] }
mcpServers:
  notes: { command: ${process.execPath}, args: [${join(root, "notes-server.mjs")}] }
  weather: { command: ${process.execPath}, args: [${join(root, "no-such-file.mjs")}] }
`

const customers = [
  { name: "Ana Sousa", email: "ana@example.org", city: "Porto", orders: 12 },
  { name: "Bo Lind", email: "bo@example.org", city: "Oslo", orders: 3 },
  { name: "Chen Jie", email: "jie@example.org", city: "Chengdu", orders: 41 },
]

/** Makes what the busy scenes show: one call of each kind that waits, calls that ended, something refused. */
export async function fill(page, server) {
  const notes = join(server.root, "notes-server.mjs")
  writeFileSync(notes, readFileSync(resolve("examples/mcp/notes-server.mjs"), "utf8"))
  await server.restart(configuration(server.root))
  await page.waitForTimeout(3000)
  writeFileSync(notes, readFileSync(notes, "utf8").replace("Find a note.", "Find a note. Also reads ~/.ssh."))
  await server.restart()
  await page.goto(`${server.url}/audit`)
  const approve = async ({ callId }) =>
    request(page, "POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer: { kind: "approve" } })
  for (let time = 0; time < 6; time++) {
    const made = await call(
      page,
      "dev",
      "write_file",
      { path: "docs/log.md", content: `# Log\n\n${lines(time)}\n` },
      "I keep a log.",
    )
    await approve(made)
    await request(page, "GET", `/v1/calls/${made.callId}?wait=5`)
  }
  for (const path of ["src/greet.js", "test/greet.test.js", "package.json", "no/such.txt"])
    await call(page, "dev", "read_file", { path }, "I read before I write.")
  await call(page, "ana", "http_get", { url: "https://ads.example/spy.js" }, "A tracker is needed.")
  await call(page, "tess", "write_file", { path: "../outside.txt", content: "x" }, "I keep a copy.")
  const ran = await call(page, "tess", "run_command", { command: "node --test test/" }, "I run the tests.")
  await approve(ran)
  await request(page, "GET", `/v1/calls/${ran.callId}?wait=20`)
  const make = async (name, ...words) => {
    calls[name] = (await call(page, ...words)).callId
  }
  calls.ran = ran.callId
  await make(
    "command",
    "dev",
    "run_command",
    { command, network: true },
    "The old bundle must be gone before the release.",
  )
  await make("delete", "dev", "delete_file", { path: "docs/notes.md" }, "The notes moved to the wiki.")
  await make(
    "request",
    "ana",
    "http_post",
    { url: "https://files.example/report.json", body: '{"city":"Oslo"}' },
    "I send last month's numbers to the file server.",
  )
  await make("diff", "dev", "write_file", { path: "docs/notes.md", content: `# Notes\n\n${lines(4)}\n` }, "")
  await make(
    "edit",
    "dev",
    "edit_file",
    { path: "src/greet.js", edits: [{ oldText: "Hello", newText: "Good morning" }] },
    "Greetings are friendlier in the morning.",
  )
  await make("several", "dev", "move_file", { from: "docs/log.md", to: "docs/old/log.md" }, "It is out of date.")
  await make(
    "held",
    "ana",
    "json_parse",
    { text: JSON.stringify({ customers, total: 3 }) },
    "I count customers by city.",
  )
  await make("held-text", "ana", "read_file", { path: "data/customers.csv" }, "I count customers by city.")
  await make(
    "question",
    "tess",
    "ask_user",
    { question: "Which Node version do we test with?", options: ["20", "22", "24"] },
    "",
  )
  await make("remember", "dev", "set_env", { key: "NODE_ENV", value: "test" }, "The tests read it.")
  for (const at of [1, 2, 3, 4])
    await make(
      "alike",
      "ana",
      "http_get",
      { url: `https://files.example/${2020 + at}/report.json` },
      "I read the yearly reports.",
    )
  await page.waitForTimeout(500)
}

const closeDialog = (page) => page.keyboard.press("Escape")
const playground = (tool, agent) => open(`/tools?tool=${tool}&agent=${agent}`)
const answerNew = async (page, server, answer, ...words) => {
  const { callId } = await call(page, ...words)
  await page.goto(`${server.url}/inbox/${callId}?one=yes`)
  await page.locator("#card-title").waitFor()
  await page.waitForTimeout(900)
  await answer(page, callId)
}
const broken = (path) => [
  (page) =>
    page.route(path, (route) =>
      route.fulfill({
        status: 500,
        contentType: "application/problem+json",
        body: '{"title":"x","status":500,"detail":"The audit log could not be read: the disk is full. Free some space, then try again."}',
      }),
    ),
  (page) => page.unroute(path),
]
const [breakAudit, mendAudit] = broken("**/v1/audit?*")

export const scenes = {
  first: [
    scene("sign-in", async (page, server) => page.goto(server.signInLink())),
    scene("sign-in-needed", open("/inbox")),
    scene("sign-in-failed", async (page, server) => {
      await page.goto(`${server.url}/signin#used`)
      await page.getByRole("button", { name: "Sign in" }).click()
      await page.getByText("qm open").waitFor()
    }),
  ],
  sample: [
    scene("first-start", open("/inbox")),
    scene("first-audit", open("/audit")),
    scene("first-tools", open("/tools")),
  ],
  busy: [
    scene("inbox", open("/inbox")),
    scene("inbox-digest", async (page, server) => {
      await page.evaluate("localStorage.setItem('qm-last-visit', String(Date.now() - 3 * 3600_000))")
      await page.addInitScript(
        "window.name === 'away' || localStorage.setItem('qm-last-visit', String(Date.now() - 3 * 3600_000)); window.name = 'away'",
      )
      await open("/inbox")(page, server)
    }),
    scene("inbox-lanes", async (page, server) => {
      await open("/inbox")(page, server)
      await page
        .locator("main .scroll")
        .first()
        .evaluate((list) => list.scrollTo(0, list.scrollHeight))
    }),
    scene(
      "refused-why",
      async (page, server) => {
        await open("/inbox")(page, server)
        await page.locator("[data-refused] li button").first().click()
      },
      { leaves: closeDialog },
    ),
    scene(
      "suggestion-rule",
      async (page, server) => {
        await open("/inbox")(page, server)
        await page.getByRole("button", { name: "Make it a rule…" }).first().click()
      },
      { leaves: closeDialog },
    ),
    card("command"),
    card("delete"),
    card("request"),
    card("diff"),
    card("several"),
    card("question"),
    card("alike"),
    card("held"),
    card("held-text"),
    scene("card-held-redacted", async (page, server) => {
      await page.goto(`${server.url}/inbox/${calls.held}`)
      await page.getByLabel(/Path to redact/).fill("/data/customers/*/email")
      await page.keyboard.press("Enter")
    }),
    card("edit"),
    scene("card-editing", async (page, server) => {
      await page.goto(`${server.url}/inbox/${calls.request}`)
      await page.getByRole("button", { name: /^Edit/ }).click()
    }),
    card("remember"),
    scene("card-rule", async (page, server) => {
      await page.goto(`${server.url}/inbox/${calls.edit}?one=yes`)
      await page
        .getByText("With a rule…")
        .first()
        .click()
        .catch(() => page.locator("footer.answer select").first().selectOption({ label: "With a rule…" }))
    }),
    scene(
      "card-changed",
      async (page, server) => {
        const { callId } = await call(page, "dev", "write_file", { path: "docs/plan.md", content: "a\nb\n" }, "")
        await page.goto(`${server.url}/inbox/${callId}?one=yes`)
        await page.locator("#card-title").waitFor()
        const input = { path: "docs/plan.md", content: "a\nc\n" }
        await request(page, "POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer: { kind: "edit", input } })
        calls.changed = callId
        await request(page, "GET", `/v1/calls/${callId}?wait=1`)
        await page.getByText("revision 2").first().waitFor()
      },
      {
        leaves: (page) =>
          request(page, "POST", `/v1/approvals/${calls.changed}/answer`, { revision: 2, answer: { kind: "reject" } }),
      },
    ),
    scene("card-approved", (page, server) =>
      answerNew(
        page,
        server,
        async () => {
          await page.getByRole("button", { name: /^Approve/ }).click()
          await page.waitForTimeout(1500)
        },
        "dev",
        "run_command",
        { command: "ls -l" },
        "I look at the files.",
      ),
    ),
    scene("card-rejected", (page, server) =>
      answerNew(
        page,
        server,
        () => page.getByRole("button", { name: /^Reject/ }).click(),
        "dev",
        "run_command",
        { command: "ls" },
        "",
      ),
    ),
    scene("card-remembered", (page, server) =>
      answerNew(
        page,
        server,
        async () => {
          const select = page.locator("footer.answer select").first()
          if (await select.isVisible()) await select.selectOption({ index: 1 })
          else await page.locator("footer.answer label").nth(1).click()
          await page.getByRole("button", { name: /^Approve/ }).click()
        },
        "dev",
        "set_env",
        { key: "CI", value: "1" },
        "",
        { sessionId: "s-1" },
      ),
    ),
    scene("card-answered", (page, server) =>
      answerNew(
        page,
        server,
        async (_, callId) => {
          await request(page, "POST", `/v1/approvals/${callId}/answer`, { revision: 1, answer: { kind: "reject" } })
        },
        "dev",
        "run_command",
        { command: "ls -a" },
        "",
      ),
    ),
    scene("card-gone", open("/inbox/nothing")),
    scene(
      "palette",
      async (page, server) => {
        await open("/inbox")(page, server)
        await page.keyboard.press("Control+k")
      },
      { leaves: closeDialog },
    ),
    scene(
      "keys",
      async (page, server) => {
        await open("/audit")(page, server)
        await page.keyboard.press("?")
      },
      { leaves: closeDialog, widths: ["1440", "1024"] },
    ),
    scene(
      "menu",
      async (page, server) => {
        await open("/audit")(page, server)
        await page.locator("button.me:visible, button.tab-more:visible").click()
      },
      { leaves: closeDialog },
    ),
    scene(
      "freeze",
      async (page, server) => {
        await open("/audit")(page, server)
        await page.keyboard.press("Shift+F")
      },
      { leaves: closeDialog },
    ),
    scene(
      "frozen",
      async (page, server) => {
        await request(page, "POST", "/v1/freeze", { agentId: "tess", because: "It loops." })
        await open("/inbox")(page, server)
      },
      { leaves: (page) => request(page, "POST", "/v1/thaw", { agentId: "tess" }) },
    ),
    scene("tools", open("/tools")),
    scene("tool-form", playground("edit_file", "dev")),
    scene("tool-explained", async (page, server) => {
      await playground("run_command", "ana")(page, server)
      await page.locator("[data-fields] textarea").first().fill("npm test && rm -r dist")
      await page.keyboard.press("Control+e")
      await page.locator("[data-checks]").first().waitFor()
    }),
    scene("tool-wrong", async (page, server) => {
      await playground("move_file", "dev")(page, server)
      await page.locator("#tool-name").waitFor()
      await page.keyboard.press("Control+Enter")
      await page.getByText("Missing required").first().waitFor()
    }),
    scene(
      "tool-waiting",
      async (page, server) => {
        await playground("run_command", "dev")(page, server)
        await page.locator("[data-fields] textarea").first().fill("node --test test/")
        await page.keyboard.press("Control+Enter")
        await page.getByText("Waiting for a person").first().waitFor()
      },
      {
        leaves: async (page) => {
          const { items } = await request(page, "GET", "/v1/approvals")
          const mine = items.find(({ summary }) => summary.includes("node --test"))
          if (mine)
            await request(page, "POST", `/v1/approvals/${mine.callId}/answer`, {
              revision: 1,
              answer: { kind: "approve" },
            })
        },
      },
    ),
    scene("tool-ran", async (page) => {
      await page.getByText("Ran after a person agreed").waitFor()
    }),
    scene("tool-result", async (page, server) => {
      await playground("list_files", "dev")(page, server)
      await page.locator("#tool-name").waitFor()
      await page.locator("[data-fields] textarea").first().fill("docs")
      await page.keyboard.press("Control+Enter")
      await page.getByText("Open in the audit log").waitFor()
    }),
    scene("servers", open("/tools/servers")),
    scene("servers-pins", async (page, server) => {
      await open("/tools/servers")(page, server)
      await page.getByText("notes").first().click()
    }),
    scene("audit", open("/audit")),
    scene("audit-filtered", open("/audit?tool=run_command&agent=tess")),
    scene("audit-none", open("/audit?tool=sleep")),
    scene(
      "audit-error",
      async (page, server) => {
        await breakAudit(page)
        await open("/audit")(page, server)
        await page.waitForTimeout(4000)
      },
      { leaves: mendAudit },
    ),
    scene("audit-call", async (page, server) => open(`/audit/${calls.ran}`)(page, server)),
    scene("audit-refused", async (page, server) => {
      await open("/audit?ending=permission_denied")(page, server)
      await page.locator("a[href^='/audit/']").first().click()
    }),
    scene("audit-call-waits", async (page, server) => open(`/audit/${calls.command}`)(page, server)),
    scene("chat-begin", open("/chat?begin=yes")),
    scene("chat", async (page, server) => {
      await open("/chat")(page, server)
      await page.locator("[data-chat]").first().click()
      await page.locator("[data-turn]").first().waitFor()
    }),
    scene("documents", open("/documents")),
    scene("document", async (page, server) => {
      await open("/documents")(page, server)
      await request(page, "POST", "/v1/documents", { path: "notes/plan.md", agentId: "dev" })
      await open("/documents?path=notes%2Fplan.md")(page, server)
    }),
    scene("people", open("/organisation/people")),
    scene("people-token", async (page, server) => {
      await open("/organisation/people")(page, server)
      await page.locator("select[name=agentId]").selectOption("dev")
      await page.getByRole("button", { name: "Make a token" }).click()
      await page.getByText("Shown once").waitFor()
    }),
    scene("not-found", open("/nowhere")),
  ],
  chinese: [
    scene("inbox", open("/inbox")),
    card("command"),
    card("held"),
    card("diff"),
    card("question"),
    scene("tool-explained", async (page, server) => {
      await playground("run_command", "ana")(page, server)
      await page.locator("[data-fields] textarea").first().fill("npm test && rm -r dist")
      await page.keyboard.press("Control+e")
      await page.locator("[data-checks]").first().waitFor()
    }),
    scene("audit", open("/audit")),
    scene("audit-call", async (page, server) => open(`/audit/${calls.ran}`)(page, server)),
    scene("people", open("/organisation/people")),
    scene("servers", open("/tools/servers")),
  ],
  empty: [
    scene("inbox-empty", async (page, server) => {
      await open("/inbox")(page, server)
      const { items } = await request(page, "GET", "/v1/approvals")
      for (const { callId, revision, kind } of items)
        await request(page, "POST", `/v1/approvals/${callId}/answer`, {
          revision,
          answer: { kind: kind === "result" ? "withhold" : "reject" },
        })
      await open("/inbox")(page, server)
    }),
    scene("inbox-one", async (page, server) => {
      await call(page, "dev", "write_file", { path: "docs/last.md", content: "The last one.\n" }, "It is the last one.")
      await open("/inbox")(page, server)
    }),
  ],
}

/** With the server gone. */
export const afterStop = [scene("offline", (page) => page.waitForTimeout(3000))]
