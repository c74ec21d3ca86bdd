def get(name)
  File.read(name)                   # makes: open fstat lseek read close
end

File.open('lock', 'w') do |lock|    # makes: open fstat lseek close
  lock.flock(File::LOCK_EX)         # makes: flock
  File.write('n', '1')              # makes: open fstat lseek write close
  get('n')
  system('rm', 'n')                 # makes: fork exec exit wait work stat lstat access unlink
  File.unlink('lock')               # makes: unlink close
end
