import { Check, Copy } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { toast } from '../ui/toast.tsx'
import { IconButton } from '../ui/icon-button.tsx'

const saidMs = 1_500

/** Copies the source text (Z-195) and says so for a moment. */
export function CopyButton({
  text,
  label = 'Copy',
  className,
}: {
  text: string | (() => string | Promise<string>)
  label?: string | undefined
  className?: string | undefined
}) {
  const [copied, setCopied] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : await text())
      setCopied(true)
      clearTimeout(timer.current)
      timer.current = setTimeout(() => setCopied(false), saidMs)
    } catch {
      toast.failed('Could not copy')
    }
  }
  return (
    <IconButton
      icon={copied ? Check : Copy}
      label={copied ? 'Copied' : label}
      size="small"
      onClick={() => void copy()}
      className={className}
    />
  )
}
