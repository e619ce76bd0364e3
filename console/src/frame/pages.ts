import type { IconName } from "../ui/icon-paths.ts"
import type { Words } from "../words/en.ts"

export interface Page {
  readonly to: "/inbox" | "/tools" | "/audit"
  readonly icon: IconName
  readonly label: (words: Words) => string
}

/** The navigation, by what people come to do. Only pages that exist are here. */
export const sections: readonly { readonly label: (words: Words) => string; readonly pages: readonly Page[] }[] = [
  {
    label: ({ pages }) => pages.answer,
    pages: [{ to: "/inbox", icon: "inbox", label: ({ pages }) => pages.inbox }],
  },
  {
    label: ({ pages }) => pages.govern,
    pages: [{ to: "/tools", icon: "tool", label: ({ pages }) => pages.tools }],
  },
  {
    label: ({ pages }) => pages.lookBack,
    pages: [{ to: "/audit", icon: "list-check", label: ({ pages }) => pages.audit }],
  },
]

export const pages = sections.flatMap((section) => section.pages)
