import { useMediaQuery } from "@mantine/hooks"
import { useParams, useSearch } from "@tanstack/react-router"
import { Begin } from "./begin.tsx"
import { Conversation } from "./conversation.tsx"
import { Threads } from "./threads.tsx"
import look from "./chat.module.css"

/** Conversations with agents: the list, the one that is open, and what stands beside it. */
export function ChatPage() {
  const { chatId } = useParams({ strict: false })
  const { begin } = useSearch({ strict: false })
  const wide = useMediaQuery("(min-width: 48em)", true, { getInitialValueInEffect: false })
  const isOpen = chatId !== undefined || begin !== undefined
  return (
    <main id="main" className={look["page"]} data-view={isOpen ? "card" : "list"}>
      {(wide || !isOpen) && <Threads shown={chatId} />}
      {chatId !== undefined ? <Conversation key={chatId} id={chatId} /> : (wide || isOpen) && <Begin />}
    </main>
  )
}
