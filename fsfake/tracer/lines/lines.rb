# Tells which line of a script runs, by a write that is not made; see lines.go.
lambda do
  libraries, left = [RbConfig::CONFIG['prefix'] + '/lib/', '/var/lib/gems/', '<internal:', '(eval'], 50_000
  tell = lambda { |at| STDERR.syswrite("\x01lockpick line:" + at) }
  TracePoint.new(:line) do |point|
    next if point.path.start_with?(__FILE__, *libraries) || (left -= 1) < 0

    tell.("#{point.lineno}:#{point.method_id}:#{point.path}")
  end.enable
  at_exit { tell.('0::') }
end.call
