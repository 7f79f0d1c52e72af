#!/bin/sh
# Apache Kafka for the tests (KRaft, one process, Java 17 or newer): prints the folder in which its jars lie.
#
#     scripts/kafka.sh             fetch it with Maven unless it is there (some 25 s)
#     scripts/kafka.sh --print     only say where it is or will be
#
# It lies in ${OTEL_EVAL_CACHE:-${XDG_CACHE_HOME:-~/.cache}/otel-eval}, in a folder named by version. The tests start it themselves.
set -eu
kafka=4.3.1
log4j=2.25.1
cache=${OTEL_EVAL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/otel-eval}
folder=$cache/kafka-$kafka-log4j-$log4j

complain() {
    printf 'kafka: %s\n' "$*" >&2
    exit 1
}

if [ "${1:-}" != --print ] && [ ! -f "$folder/.ready" ]; then
    java -version >/dev/null 2>&1 || complain "no Java was found. Install Java 17 or newer (Debian: default-jre-headless), then run this again."
    mvn --version >/dev/null 2>&1 || complain "no Maven was found. Install it (Debian: maven), then run this again."
    rm -rf "$folder"
    mkdir -p "$folder/jars"
    # log4j-slf4j-impl is for slf4j 1.7, which this Kafka brings.
    cat >"$folder/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>otel-eval</groupId>
  <artifactId>kafka</artifactId>
  <version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$kafka</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>$log4j</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-core</artifactId><version>$log4j</version></dependency>
  </dependencies>
</project>
POM
    mvn --batch-mode --quiet -f "$folder/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$folder/jars" >&2
    touch "$folder/.ready"
fi
echo "$folder"
