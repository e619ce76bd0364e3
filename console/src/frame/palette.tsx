import { printable } from "../../../src/lib/printable.ts"
import { createSpotlight, Spotlight } from "@mantine/spotlight"
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useDeferredValue, useState } from "react"
import { callsQuery, inboxQuery, useMe } from "../api/queries.ts"
import { chatsQuery } from "../chat/queries.ts"
import { rolesQuery, treeQuery } from "../org/queries.ts"
import { rulesQuery } from "../rules/queries.ts"
import { documentsQuery } from "../documents/queries.ts"
import { Icon } from "../ui/icon.tsx"
import type { IconName } from "../ui/icon-paths.ts"
import { clockTime } from "../words/time-text.ts"
import { useSay, useWords } from "../words/words.tsx"
import { useFreeze } from "./freeze.tsx"
import { pages } from "./pages.ts"

const [paletteStore, palette] = createSpotlight()
export const openPalette = () => palette.open()

/** Limit of offers of each kind. */
const most = 8

/** ⌘K: pages, what waits, conversations, agents, roles, rules, calls, freeze. Nothing in it answers anything. */
export function Palette() {
  const words = useWords()
  const say = useSay()
  const navigate = useNavigate()
  const freeze = useFreeze()
  const { frozen } = useMe()
  const { data: inbox } = useQuery(inboxQuery)
  const [typed, setTyped] = useState<string>()
  const chats = useInfiniteQuery({ ...chatsQuery(useDeferredValue(typed ?? "").trim()), enabled: typed !== undefined })

  const { data: documents = [] } = useQuery({ ...documentsQuery, enabled: typed !== undefined })
  const wanted = useDeferredValue(typed ?? "").trim()
  // These are many: they are offered once something is typed.
  const enabled = wanted !== ""
  const { data: tree } = useQuery({ ...treeQuery, enabled })
  const { data: roles = [] } = useQuery({ ...rolesQuery, enabled })
  const rules = useInfiniteQuery({ ...rulesQuery(wanted), enabled })
  const { data: calls = [] } = useQuery({ ...callsQuery, enabled })
  const find = <Item,>(items: readonly Item[], text: (item: Item) => string): readonly Item[] =>
    enabled ? items.filter((item) => text(item).toLowerCase().includes(wanted.toLowerCase())).slice(0, most) : []

  const action = (id: string, icon: IconName, label: string, onClick: () => void, description?: string) => ({
    id,
    label,
    ...(description === undefined ? {} : { description }),
    leftSection: <Icon name={icon} />,
    onClick,
  })
  const everyone = frozen.some(({ agentId }) => agentId === undefined)
  const groups = [
    {
      group: words.frame.goTo,
      actions: pages.map((page) => action(page.to, page.icon, page.label(words), () => void navigate({ to: page.to }))),
    },
    {
      group: words.pages.inbox,
      actions: (inbox?.items ?? []).map((card) =>
        action(
          card.callId,
          card.kind === "question" ? "help-circle" : card.kind === "result" ? "eye-pause" : "hand-stop",
          say(card.title),
          () => void navigate({ to: "/inbox/$callId", params: { callId: card.callId } }),
          `${card.agent.id}, ${printable(card.summary)}`,
        ),
      ),
    },
    {
      group: words.chat.title,
      actions: (chats.data?.pages[0]?.items ?? []).slice(0, 8).map(({ id, title, agentId, shown, preview }) => ({
        ...action(
          id,
          "message",
          printable(title),
          () => void navigate({ to: "/chat/$chatId", params: { chatId: id } }),
          `${agentId}, ${words.chat.state[shown]}`,
        ),
        // The server found it by more than what is shown here.
        keywords: [typed ?? "", printable(preview)],
      })),
    },
    {
      group: words.pages.documents,
      actions: documents.map(({ path, agentId }) =>
        action(
          `document ${path}`,
          "file-text",
          printable(path),
          () => void navigate({ to: "/documents", search: { path } }),
          agentId,
        ),
      ),
    },
    {
      group: words.govern.org.agents,
      actions: find(tree?.agents ?? [], ({ id, role }) => `${id} ${role}`).map(({ id, role, activity }) =>
        action(
          `agent ${id}`,
          "hierarchy-2",
          id,
          () => void navigate({ to: "/organisation/agents/$agentId", params: { agentId: id } }),
          `${printable(role)}, ${words.govern.org.doing[activity]}`,
        ),
      ),
    },
    {
      group: words.govern.org.roles,
      actions: find(roles, ({ name }) => name).map(({ id, name, agents, toolGroups }) =>
        action(
          `role ${id}`,
          "hierarchy-2",
          printable(name),
          () => void navigate({ to: "/organisation/roles/$roleId", params: { roleId: id } }),
          words.govern.role.rows(agents, toolGroups?.length),
        ),
      ),
    },
    {
      group: words.pages.rules,
      actions: (enabled ? (rules.data?.pages[0]?.items ?? []) : [])
        .slice(0, most)
        .map(({ id, verdict, tool, because }) => ({
          ...action(
            `rule ${id}`,
            "scale",
            `${words.govern.rules.verdict[verdict]} ${printable(tool)}`,
            () => void navigate({ to: "/rules", search: { id } }),
            printable(because),
          ),
          // The server found it by more than what is shown here.
          keywords: [wanted],
        })),
    },
    {
      group: words.pages.audit,
      actions: find(calls, ({ callId, tool, agentId, summary }) => `${callId} ${tool} ${agentId} ${summary}`).map(
        ({ callId, tool, agentId, summary, at }) => ({
          ...action(
            `call ${callId}`,
            "list-check",
            `${tool} ${printable(summary)}`,
            () => void navigate({ to: "/audit/$callId", params: { callId } }),
            `${agentId}, ${clockTime(at)}`,
          ),
          keywords: [callId],
        }),
      ),
    },
    {
      group: words.frame.freeze,
      actions: [
        everyone
          ? action("thaw", "snowflake", words.frame.thawEveryone, () => freeze.thaw())
          : action("freeze", "snowflake", words.frame.freezeEveryone, () => freeze.ask()),
      ],
    },
  ]
  return (
    <Spotlight
      store={paletteStore}
      actions={groups.filter(({ actions }) => actions.length > 0)}
      shortcut={["mod + K"]}
      onSpotlightOpen={() => setTyped("")}
      onSpotlightClose={() => setTyped(undefined)}
      onQueryChange={setTyped}
      nothingFound={words.frame.nothingFound}
      highlightQuery
      scrollable
      maxHeight={420}
      searchProps={{
        placeholder: words.frame.goTo,
        "aria-label": words.frame.goTo,
        leftSection: <Icon name="search" />,
      }}
    />
  )
}
