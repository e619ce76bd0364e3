import { createContext, use, useEffect, useMemo, useState, type ReactNode } from "react"
import type { Message } from "../../../src/messages/message.ts"
import { printable } from "../../../src/lib/printable.ts"
import { en, type Words } from "./en.ts"
import { translate } from "../../../src/messages/translate.ts"
import { zh } from "./zh.ts"

export const languages = { en, zh } as const satisfies Record<string, Words>
export type Language = keyof typeof languages

interface Chosen {
  readonly language: Language
  readonly words: Words
  readonly choose: (language: Language) => void
}

const storageKey = "qm-language"
const Context = createContext<Chosen | undefined>(undefined)

function firstLanguage(): Language {
  const stored = localStorage.getItem(storageKey)
  if (stored === "en" || stored === "zh") return stored
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en"
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState(firstLanguage)
  useEffect(() => {
    document.documentElement.lang = language === "zh" ? "zh-CN" : "en"
  }, [language])
  const chosen = useMemo(
    () => ({
      language,
      words: languages[language],
      choose: (next: Language) => {
        localStorage.setItem(storageKey, next)
        setLanguage(next)
      },
    }),
    [language],
  )
  return <Context value={chosen}>{children}</Context>
}

export function useLanguage(): Chosen {
  const chosen = use(Context)
  if (chosen === undefined) throw new Error("LanguageProvider is missing.")
  return chosen
}

/** The console's own words in the person's language. */
export const useWords = () => useLanguage().words

/**
 * A function that says a message of the server in the person's language, or in English where it has no translation.
 * Paths and commands of agents are in it: what cannot be seen is written as codes.
 */
export function useSay(): (message: Message) => string {
  const { language } = useLanguage()
  return useMemo(() => (message: Message) => printable(translate(message, language)), [language])
}
