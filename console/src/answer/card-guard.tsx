import { createContext, use, useEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from "react"
import { isInView, type Guard } from "./guard.ts"
import { openGuard, pageGuard, useCommandKeys } from "./use-guard.ts"

interface CardGuard {
  readonly guard: Guard
  /** True if single keys answer this card. With several cards on a page, only one has them. */
  readonly hasKeys: boolean
  /** Scrolls to what was found about the call, or what is asked, if it cannot be seen. Then the key has done its work. */
  readonly scrolledIntoView: () => boolean
}

/** Alone on its page, a card has the page's guard and its keys. */
const CardGuardContext = createContext<CardGuard>({
  guard: pageGuard,
  hasKeys: true,
  scrolledIntoView: () => scrolledIntoView(document, document.querySelector("[data-card-scroll]")),
})

export const useCardGuard = () => use(CardGuardContext)

/** Calls `onKey` for single keys, where this card has them. */
export function useAnswerKeys(onKey: (key: string, event: KeyboardEvent) => boolean): void {
  const { hasKeys } = useCardGuard()
  useCommandKeys((key, event) => hasKeys && onKey(key, event))
}

interface Props {
  readonly hasKeys: boolean
  /** The card, and the part of the page that scrolls and holds it. */
  readonly card: RefObject<HTMLElement | null>
  readonly children: ReactNode
}

/** Gives a card among others a guard of its own: each sleeps by itself, and an answer is about the card it was pressed on. */
export function CardAmongOthers({ hasKeys, card, children }: Props) {
  const [guard] = useState(() => openGuard())
  const latest = useRef(card)
  useEffect(() => {
    guard.listen()
    return guard.close
  }, [guard])
  const value = useMemo(
    () => ({
      guard,
      hasKeys,
      scrolledIntoView: () => {
        const place = latest.current.current
        return place !== null && scrolledIntoView(place, place.closest("[data-card-scroll]"))
      },
    }),
    [guard, hasKeys],
  )
  return <CardGuardContext value={value}>{children}</CardGuardContext>
}

function scrolledIntoView(place: ParentNode, view: Element | null): boolean {
  const found = place.querySelector("[data-found]")
  if (found === null || view === null) return false
  if (isInView(found.getBoundingClientRect(), view.getBoundingClientRect())) return false
  found.scrollIntoView({ block: "start" })
  return true
}
