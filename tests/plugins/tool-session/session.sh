# A session in a process of its own: a number, which each line adds to. It goes on without who started it.
number=$2
while read -r add; do
  number=$((number + add))
  echo "$number"
done
while :; do sleep 60; done
