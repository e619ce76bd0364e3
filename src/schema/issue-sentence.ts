import type { z } from "zod"
import { typeName } from "./problems.ts"

/** Describes the problem of `got` and its remedy. Continues a sentence that begins with its name: "is missing." */
export function issueSentence(issue: z.core.$ZodIssue, got: unknown): string {
  if (got === undefined && issue.code !== "invalid_key") return "is missing. Add it."
  switch (issue.code) {
    case "invalid_type":
      return `cannot be of type ${typeName(got)}. Write ${words[issue.expected] ?? issue.expected} instead.`
    case "invalid_value":
      return `has a value that is not allowed. Write one of: ${issue.values.join(", ")}.`
    case "too_small":
      if (issue.origin === "string") return "is empty. Write a text of at least one character."
      if (issue.origin === "array") return "is an empty list. Write at least one."
      return `is too small. Write a number ${issue.inclusive ? "of at least" : "above"} ${issue.minimum}.`
    case "too_big":
      if (issue.origin === "string") return `is too long. Write at most ${issue.maximum} characters.`
      if (issue.origin === "array") return `is too long. Write at most ${issue.maximum} of them.`
      return `is too large. Write a number of at most ${issue.maximum}.`
    case "invalid_key":
      return "has an empty name. Write a name before the colon."
    default:
      return `is not right: ${issue.message.replace(/\.$/, "")}. Correct it.`
  }
}

const words: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list such as [one, two]",
  object: "keys with values",
  record: "keys with values",
}

/** The issues of the union member whose type the value has; undefined if none fits. */
export function issuesOfForm({ errors }: z.core.$ZodIssueInvalidUnion): z.core.$ZodIssue[] | undefined {
  return errors.find((issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0))
}
