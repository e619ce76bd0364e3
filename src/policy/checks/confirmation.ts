import { confirmationParameters } from "../../core/permission.ts"
import { ask, defineCheck } from "../check.ts"

/** The model itself asks for a confirmation in the input of the call. It can only raise the verdict. */
export const confirmationCheck = defineCheck({
  name: "confirmation",
  stage: "ask",
  source: ({ input }) => `input /${parameterIn(input)}`,
  look({ input }) {
    const parameter = parameterIn(input)
    return parameter === undefined
      ? undefined
      : ask("confirmation_wished", undefined, { fix: () => `Leave out ${parameter}` })
  },
  sentences: {
    confirmation_wished: { en: () => "The call itself asks to be confirmed.", zh: "调用本身要求确认。" },
  },
})

function parameterIn(input: unknown): string | undefined {
  if (typeof input !== "object" || input === null) return undefined
  return confirmationParameters.find(
    (name) => Object.hasOwn(input, name) && (input as Record<string, unknown>)[name] === true,
  )
}
