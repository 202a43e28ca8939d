/** Arguments as models send them, cast to what a tool's schema wants before it is asked, and its faults in words. */
import { z } from 'zod'
import { LatheError } from '../../preload/contract/errors.ts'
import type { Tool, ToolSpecSchema } from './tool.ts'

const schemas = new WeakMap<Tool, ToolSpecSchema>()

/** JSON Schema of a tool's arguments, made once. */
export function schemaOf(tool: Tool): ToolSpecSchema {
  let schema = schemas.get(tool)
  if (!schema) {
    // Of the parsed value: what a preprocess step takes has no shape. There a field with a default counts as required.
    const { $schema: _, ...made } = z.toJSONSchema(tool.input, {
      io: 'output',
      unrepresentable: 'any',
    }) as ToolSpecSchema & { $schema?: string }
    const required = made.required?.filter((name) => made.properties?.[name]?.['default'] === undefined)
    schema = { ...made, ...(required ? { required } : {}) }
    schemas.set(tool, schema)
  }
  return schema
}

/** The call's arguments as the tool takes them. Throws `tool.invalid_arguments` with up to five faults. */
export function readArguments(tool: Tool, args: Record<string, unknown>): unknown {
  const parsed = tool.input.safeParse(cast(schemaOf(tool), named(args, tool.aliases)))
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.slice(0, 5).map((issue) => {
    const field = issue.path.map(String).join('.') || 'arguments'
    return `${field}: ${issue.message}; given ${short(valueAt(args, issue.path))}`
  })
  throw new LatheError('tool.invalid_arguments', `These arguments do not fit ${tool.name}:\n${faults.join('\n')}`)
}

function named(args: Record<string, unknown>, aliases: Tool['aliases']): Record<string, unknown> {
  if (!aliases) return args
  const named: Record<string, unknown> = {}
  for (const [given, value] of Object.entries(args)) {
    const own = aliases[given]
    if (own === undefined) named[given] = value
    else if (value !== null && args[own] === undefined) named[own] = value
  }
  return named
}

function cast(schema: ToolSpecSchema | undefined, value: unknown): unknown {
  if (!schema || value === undefined) return value
  const types = typesOf(schema)
  if (typeof value === 'string' && !types.includes('string')) {
    const text = value.trim()
    if ((types.includes('number') || types.includes('integer')) && text !== '' && Number.isFinite(Number(text)))
      return Number(text)
    if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true'
    if (types.includes('object') || types.includes('array')) return castJson(schema, types, text) ?? value
    return value
  }
  if (types.includes('object') && isRecord(value) && schema.properties) {
    const required = new Set(schema.required ?? [])
    const entries = Object.entries(value).filter(
      ([name, one]) =>
        !(one === null && !required.has(name) && !typesOf(schema.properties?.[name] ?? {}).includes('null')),
    )
    return Object.fromEntries(entries.map(([name, one]) => [name, cast(schema.properties?.[name], one)]))
  }
  if (types.includes('array') && Array.isArray(value)) return value.map((one) => cast(schema.items, one))
  return value
}

function castJson(schema: ToolSpecSchema, types: string[], text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    const fits = Array.isArray(value) ? types.includes('array') : isRecord(value) && types.includes('object')
    return fits ? cast(schema, value) : undefined
  } catch {
    return undefined
  }
}

function typesOf(schema: ToolSpecSchema): string[] {
  const own = schema.type === undefined ? [] : Array.isArray(schema.type) ? schema.type : [schema.type]
  return [...own, ...(schema.anyOf ?? []).flatMap(typesOf)]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (at === null || typeof at !== 'object' ? undefined : (at as Record<PropertyKey, unknown>)[key]),
    value,
  )
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
